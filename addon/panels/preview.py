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

    def draw_header(self, context: bpy.types.Context) -> None:
        """Shows a switch that stays available in the closed panel."""
        icon = "CHECKBOX_HLT" if bodies.host_of(context.object).jounce.preview else "CHECKBOX_DEHLT"
        self.layout.operator("jounce.preview", text="", icon=icon, emboss=False)

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the state and the progress of the preview."""
        layout, state = self.layout_and_state(context)
        if state.is_flesh:
            layout.row().prop(state, "quality", expand=True)
            draw_learning(layout, context)
        row = layout.row(align=True)
        row.operator("jounce.preview", icon="HIDE_OFF" if state.preview else "HIDE_ON", depress=state.preview)
        row.operator("jounce.fill_cache", icon="FILE_REFRESH", text="")
        row.operator("jounce.clear_cache", icon="TRASH", text="")
        if state.preview and state.is_flesh:
            layout.operator("jounce.grab", icon="VIEW_PAN")
        known = previews.session(bodies.host_of(context.object))
        if known is not None:
            sidebar.wrapped(layout, context, text=known.status(), translate=False)
