"""The live preview."""

import bpy

from ..bridge.body import bodies
from ..bridge.preview import previews
from . import sidebar
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
            draw_distance(layout, context)
        if state.is_flesh:
            draw_learning(layout, context)
        row = layout.row(align=True)
        row.operator("jounce.fill_cache", icon="FILE_REFRESH")
        row.operator("jounce.clear_cache", icon="TRASH", text="")
        if state.preview and state.is_flesh:
            layout.operator("jounce.grab", icon="VIEW_PAN")


def draw_distance(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Shows the distance of the draft from the final motion, once known."""
    known = previews.session(bodies.host_of(context.object))
    told = "" if known is None or known.final is None else known.final.draft_distance
    if told:
        sidebar.wrapped(layout, context, text=told, translate=False)
