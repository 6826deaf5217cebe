"""Where the flesh differs."""

import bpy

from ..bridge import maps
from ..core.maps import Kind
from .sidebar import BodyPanel


class JOUNCE_PT_maps(BodyPanel, bpy.types.Panel):
    """Where the flesh differs"""

    bl_label = "Maps"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the vertex group of each map, and how to make it."""
        layout, state = self.layout_and_state(context)
        for kind, (setting, _, _) in maps.SETTINGS.items():
            row = layout.row(align=True)
            row.prop_search(state, setting, context.object, "vertex_groups")
            for operator, icon in (
                ("add", "ADD"),
                ("from_selection", "VERTEXSEL"),
                ("from_bones", "BONE_DATA"),
            ):
                row.operator(f"jounce.map_{operator}", text="", icon=icon).kind = kind.value
            if kind is Kind.STIFFNESS and state.stiffness_group:
                column = layout.column(align=True)
                column.prop(state, "stiffness_soft")
                column.prop(state, "stiffness_stiff")
            if kind is Kind.LEAK and state.leak_group:
                layout.label(text="Only differences within a bone's region act", icon="INFO")
