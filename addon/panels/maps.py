"""Where the flesh differs."""

import bpy

from ..bridge import maps
from ..core.maps import Kind
from .sidebar import BodyPanel

# What fills or changes a map, by the end of its operator's name.
TOOLS = (
    ("from_selection", "VERTEXSEL"),
    ("from_bones", "BONE_DATA"),
    ("from_sphere", "SPHERE"),
    ("smooth", "MOD_SMOOTH"),
    ("mirror", "MOD_MIRROR"),
)


class MapMenu:
    """What can be done with the map of one kind. Subclasses name the kind."""

    bl_label = "Map"
    kind: Kind

    def draw(self, _context: bpy.types.Context) -> None:
        """Shows the tools."""
        for operator, icon in TOOLS:
            self.layout.operator(f"jounce.map_{operator}", icon=icon).kind = self.kind.value


def menu_name(kind: Kind) -> str:
    """The name of the menu for a kind of map."""
    return f"JOUNCE_MT_map_{kind.value.lower()}"


MENUS = tuple(type(menu_name(kind), (MapMenu, bpy.types.Menu), {"kind": kind}) for kind in Kind)


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
            row.operator("jounce.map_paint", text="", icon="BRUSH_DATA").kind = kind.value
            row.menu(menu_name(kind), text="", icon="DOWNARROW_HLT")
            if kind is Kind.STIFFNESS and state.stiffness_group:
                column = layout.column(align=True)
                column.prop(state, "stiffness_soft")
                column.prop(state, "stiffness_stiff")
            if kind is Kind.LEAK and state.leak_group:
                layout.label(text="Only differences within a bone's region act", icon="INFO")
        layout.operator("jounce.maps_copy", icon="PASTEDOWN")
