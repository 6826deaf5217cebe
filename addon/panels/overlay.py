"""Drawings of the viewports over the body."""

import bpy

from .sidebar import BodyPanel


class JOUNCE_PT_overlay(BodyPanel, bpy.types.Panel):
    """Drawings of the viewports over the body"""

    bl_label = "Overlays"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the available drawings."""
        layout, _ = self.layout_and_state(context)
        settings = context.window_manager.jounce
        layout.prop(settings, "field")
        colours = layout.column()
        colours.active = settings.field != "NONE"
        colours.prop(settings, "opacity")
        column = layout.column(heading="Show")
        column.prop(settings, "cage")
        column.prop(settings, "embedding")
        column.prop(settings, "handle")
