"""Whether the motion is shown live."""

from bpy.props import BoolProperty


class PreviewProps:
    """Of the host."""

    preview: BoolProperty(
        name="Preview", description="The motion is shown live in the viewport", options={"HIDDEN"}
    )
