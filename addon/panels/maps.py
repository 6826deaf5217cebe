"""Maps: variation of the flesh over the body."""

import bpy

from ..bridge.body import bodies, weight_maps
from ..core.flesh.settings import BodyKind
from ..core.mesh.maps import Kind
from . import sidebar
from .part_list import JOUNCE_MT_part_add
from .sidebar import BodyPanel

# Tools for filling and changing a map, by the end of the operator's name.
TOOLS = (
    ("from_selection", "VERTEXSEL"),
    ("from_bones", "BONE_DATA"),
    ("from_sphere", "SPHERE"),
    ("smooth", "MOD_SMOOTH"),
    ("mirror", "MOD_MIRROR"),
)


class MapMenu:
    """Tools for the map of one kind. Subclasses name the kind."""

    bl_label = "Map"
    kind: Kind

    def draw(self, _context: bpy.types.Context) -> None:
        """Shows the tools."""
        for operator, icon in TOOLS:
            self.layout.operator(f"jounce.map_{operator}", icon=icon).kind = self.kind.value
        if self.kind is Kind.LEAK:
            self.layout.operator("jounce.bone_leak", icon="BONE_DATA")


def menu_name(kind: Kind) -> str:
    """The name of the menu for a kind of map."""
    return f"JOUNCE_MT_map_{kind.value.lower()}"


MENUS = tuple(type(menu_name(kind), (MapMenu, bpy.types.Menu), {"kind": kind}) for kind in Kind)


class JOUNCE_PT_maps(BodyPanel, bpy.types.Panel):
    """Variation of the flesh over the body"""

    bl_label = "Maps"
    kinds = frozenset((BodyKind.RIGGED, BodyKind.ATTACHED, BodyKind.PINNED))

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the vertex group of each map, and buttons for making one."""
        layout, state = self.layout_and_state(context)
        mesh = context.object if context.object.type == "MESH" else bodies.host_of(context.object)
        for kind, (setting, _) in weight_maps.SETTINGS.items():
            if kind is not Kind.PIN and not state.is_flesh:
                continue
            row = layout.row(align=True)
            row.prop_search(state, setting, mesh, "vertex_groups")
            row.operator("jounce.map_paint", text="", icon="BRUSH_DATA").kind = kind.value
            row.menu(menu_name(kind), text="", icon="DOWNARROW_HLT")
            if kind is Kind.STIFFNESS and state.stiffness_group:
                column = layout.column(align=True)
                column.prop(state, "stiffness_soft")
                column.prop(state, "stiffness_stiff")
                column.prop(state, "stiffness_centred")
            if kind is Kind.LEAK and state.leak_group:
                sidebar.wrapped(layout, context, text="Only differences within a bone act", icon="INFO")
            if kind is Kind.MUSCLE and state.muscle_group:
                draw_muscles(layout, state, mesh, context)
        if state.is_flesh:
            layout.menu(JOUNCE_MT_part_add.__name__, icon="GROUP_VERTEX")
        layout.operator("jounce.maps_copy", icon="PASTEDOWN")


def draw_muscles(
    layout: bpy.types.UILayout,
    state: bpy.types.PropertyGroup,
    mesh: bpy.types.Object,
    context: bpy.types.Context,
) -> None:
    """Shows the stiffness of the first muscle, and further muscles."""
    layout.prop(state, "muscle_stiffness")
    for number, muscle in enumerate(state.more_muscles, start=1):
        row = layout.row(align=True)
        row.prop_search(muscle, "muscle_group", mesh, "vertex_groups")
        paint = row.operator("jounce.map_paint", text="", icon="BRUSH_DATA")
        paint.kind, paint.muscle = Kind.MUSCLE.value, number
        row.operator("jounce.muscle_remove", text="", icon="REMOVE").muscle = number
        layout.prop(muscle, "muscle_stiffness")
    layout.operator("jounce.muscle_add", icon="ADD")
    if state.poisson == 0.0:
        sidebar.wrapped(layout, context, text="Without Volume Preservation muscles do not bulge", icon="INFO")
