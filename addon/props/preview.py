"""State of the live preview."""

from bpy.props import BoolProperty


class PreviewProps:
    """Settings of the host."""

    preview: BoolProperty(
        name="Preview", description="The motion is shown live in the viewport", options={"HIDDEN"}
    )
