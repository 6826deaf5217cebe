"""The live preview."""

import bpy

from .learning import draw_learning
from .sidebar import BodyPanel


class JOUNCE_PT_preview(BodyPanel, bpy.types.Panel):
    """The live preview"""

    bl_label = "Preview"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows what is previewed, and the tools of the cache."""
        layout, state = self.layout_and_state(context)
        if state.has_final:
            layout.prop(state, "quality")
        if state.is_flesh:
            draw_learning(layout, context)
        row = layout.row(align=True)
        row.operator("jounce.fill_cache", icon="FILE_REFRESH")
        row.operator("jounce.clear_cache", icon="TRASH", text="")
        if state.preview and state.is_flesh:
            layout.operator("jounce.grab", icon="VIEW_PAN")
