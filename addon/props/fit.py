"""Animation at the time of the fitted frequency, for noticing changes."""

from bpy.props import BoolProperty, FloatProperty, StringProperty


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
    fitted_frequency: FloatProperty(
        name="Fitted Frequency", description="The frequency that was found, in Hz", options={"HIDDEN"}
    )
    fitted_from: FloatProperty(
        name="Fitted From", description="The frequency before it was fitted, in Hz", options={"HIDDEN"}
    )
    fitted_only_firmer: BoolProperty(
        name="Fitted Only Firmer",
        description="Whether the frequency was left as it was where the flesh moved by less",
        options={"HIDDEN"},
    )
