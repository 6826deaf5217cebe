"""How the flesh moves."""

import bpy

from .sidebar import BodyPanel


class JOUNCE_PT_motion(BodyPanel, bpy.types.Panel):
    """How the flesh moves"""

    bl_label = "Motion"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows what the motion depends on."""
        layout, state = self.layout_and_state(context)
        layout.prop(state, "frequency")
        layout.prop(state, "damping")
        layout.prop(state, "strength")
        layout.prop(state, "pose_rest")
        layout.prop(state, "substeps")
        layout.prop(state, "integrator")
        row = layout.row(heading="Gravity")
        row.prop(state, "use_gravity", text="")
        strength = row.row()
        strength.active = state.use_gravity
        strength.prop(state, "gravity", text="")
