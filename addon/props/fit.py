"""Animation at the time of the fitted frequency, for noticing changes."""

from bpy.props import FloatProperty, StringProperty


class FitProps:
    """Facts on the host, written by Fit to Shot and Add Jounce."""

    fitted_names: StringProperty(
        name="Fitted To", description="The actions that the frequency was fitted to", options={"HIDDEN"}
    )
    fitted_outline: StringProperty(
        name="Fitted Outline",
        description="Hash of the channels and frames of these actions, without their names",
        options={"HIDDEN"},
    )
    fitted_keys: StringProperty(
        name="Fitted Keys", description="Hash of all keys of these actions", options={"HIDDEN"}
    )
    folds: StringProperty(
        name="Folds",
        description="Places that the rig crushes in the fitted frames, where the flesh is stiffer",
        options={"HIDDEN"},
    )
    fitted_size: FloatProperty(
        name="Fitted Size",
        description="Motion of the liveliest part in the last fit, as a share of the size of the body",
        options={"HIDDEN"},
    )
    fitted_reason: StringProperty(
        name="Fitted Reason", description="The reason for the fitted frequency", options={"HIDDEN"}
    )
    fitted_frequency: FloatProperty(
        name="Fitted Frequency", description="The fitted frequency, in Hz", options={"HIDDEN"}
    )
