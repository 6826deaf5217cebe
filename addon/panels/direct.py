"""Direction of the flesh by curves and keyed shapes."""

import bpy

from ..bridge.inputs import directions
from ..core.flesh.settings import BodyKind
from . import sidebar
from .part_list import label
from .sidebar import BodyPanel, keyed

# Rows of the list of keys.
ROWS = 3
SETTINGS = ("exaggerate", "lag", "follow_through")


class JOUNCE_UL_flesh_keys(bpy.types.UIList):
    """The keyed shapes, each with its frame, its scale and its switch"""

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        _data: bpy.types.AnyType,
        key: bpy.types.PropertyGroup,
        _icon: int,
        _active: object,
        _property: str,
        _index: int = 0,
        _flag: int = 0,
    ) -> None:
        """One key."""
        row = layout.row(align=True)
        values = row.row(align=True)
        values.active = not key.mute
        values.prop(key, "frame", text="")
        values.prop(key, "scale", text="", slider=True)
        row.prop(key, "mute", text="", icon="HIDE_ON" if key.mute else "HIDE_OFF", emboss=False)


class JOUNCE_PT_direct(BodyPanel, bpy.types.Panel):
    """Curves and keyed shapes on top of the simulation"""

    bl_label = "Direct"
    kinds = frozenset((BodyKind.RIGGED,))

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the curves of the body and of the chosen part, and the keys."""
        layout, state = self.layout_and_state(context)
        draw_curves(layout, state)
        draw_part(layout, state)
        draw_keys(layout, state, context)


def draw_curves(layout: bpy.types.UILayout, owner: bpy.types.PropertyGroup) -> None:
    """Shows the curves of the body or of a part."""
    column = keyed(layout)
    for name in SETTINGS:
        column.prop(owner, name)


def draw_part(layout: bpy.types.UILayout, state: bpy.types.PropertyGroup) -> None:
    """Shows the curves of the selected part, or a button to add curves."""
    if state.part is None or not state.has_list:
        return
    own = state.directions.get(state.part.name)
    if own is None:
        layout.operator("jounce.direction_add", icon="ADD")
        return
    box = layout.box()
    row = box.row()
    row.label(text=label(state.part.name), translate=False)
    row.operator("jounce.direction_remove", text="", icon="X")
    draw_curves(box, own)


def draw_keys(layout: bpy.types.UILayout, state: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Shows the ways to make a key, the list, and the chosen key's span."""
    column = layout.column(align=True)
    column.operator("jounce.key_drag", icon="VIEW_PAN")
    row = column.row(align=True)
    row.operator("jounce.key_sculpt", icon="SCULPTMODE_HLT")
    row.operator("jounce.key_flesh", icon="KEY_HLT")
    if not len(state.flesh_keys):
        return
    row = layout.row()
    row.template_list("JOUNCE_UL_flesh_keys", "", state, "flesh_keys", state, "flesh_key_index", rows=ROWS)
    row.operator("jounce.key_remove", icon="REMOVE", text="")
    key = state.flesh_key
    if key is not None:
        if not directions.fits(key):
            sidebar.wrapped(
                layout, context, text=("The mesh has another number of vertices: key it again"), icon="ERROR"
            )
        column = layout.column(align=True)
        column.prop(key, "before")
        column.prop(key, "after")
        layout.prop(key, "swing", slider=True)


def draw_copy(layout: bpy.types.UILayout) -> None:
    """Shows the buttons that end the sculpting of a copy."""
    column = layout.column(align=True)
    column.scale_y = 1.5
    column.operator("jounce.key_sculpted", icon="CHECKMARK")
    column.operator("jounce.key_sculpted", text="Discard Shape", icon="X").discard = True
