"""The model of the body."""

import bpy

from .sidebar import BodyPanel


class JOUNCE_PT_build(BodyPanel, bpy.types.Panel):
    """The model of the body"""

    bl_label = "Body"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Shows what the model depends on."""
        layout, state = self.layout_and_state(context)
        layout.prop(state, "resolution")
        layout.prop(state, "modes")
        layout.prop(state, "locality")
        layout.prop(state, "forces")
        layout.prop(state, "clusters")
        layout.prop(state, "poisson")
        layout.prop(state, "bones_counting")
        if state.bones_counting == "PICKED":
            layout.prop(state, "bones_collection", icon="GROUP_BONE")
        layout.prop(state, "shape_keys_count")
        if state.built_summary:
            parts = state.built_summary.split(", ")
            column = layout.column(align=True)
            for line in (parts[:2], parts[2:]):
                column.label(text=", ".join(line))
