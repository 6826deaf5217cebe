"""What happens in the shot beside the animation."""

import bpy

from .sidebar import BodyPanel


class JOUNCE_PT_shot(BodyPanel, bpy.types.Panel):
    """What happens in the shot beside the animation"""

    bl_label = "Shot"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Shows start and cuts, forces, and the limit."""
        layout, state = self.layout_and_state(context)
        layout.prop(state, "start")
        cuts = layout.column(align=True)
        cuts.use_property_decorate = True
        cuts.prop(state, "cut")
        cuts.prop(state, "after_cut")
        forces = layout.column(align=True)
        forces.use_property_decorate = True
        forces.prop(state, "push")
        layout.prop(state, "field_weight")
        layout.prop(state, "field_collection")
        row = layout.row(heading="Limit")
        row.prop(state, "use_limit", text="")
        limit = row.row()
        limit.active = state.use_limit
        limit.prop(state, "limit", text="")
