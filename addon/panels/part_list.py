"""The list of a body's parts, in the main panel."""

import bpy

from ..bridge.body import bodies
from ..core.common import preset_values
from ..core.rig.part_settings import LABELS

# Blender's folder for presets of new parts, and the settings in the presets.
PRESETS = "operator/jounce.part_add"
SETTINGS = dict.fromkeys(("amount", "softness"), float)

# Most rows of the list; share of a row beside its switches for the name, and of the row below the list.
ROWS, NAME, CHOSEN = 11, 0.365, 0.3
# Icons of the switches, on and off.
SWITCHES = {
    "shown": ("HIDE_OFF", "HIDE_ON"),
    "mute": ("MUTE_IPO_OFF", "MUTE_IPO_ON"),
    "solo": ("SOLO_ON", "SOLO_OFF"),
}


class JOUNCE_UL_parts(bpy.types.UIList):
    """The parts of the body, each with its amount, its softness and its switches"""

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        state: bpy.types.PropertyGroup,
        part: bpy.types.PropertyGroup,
        _icon: int,
        _active: object,
        _property: str,
        _index: int = 0,
        _flag: int = 0,
    ) -> None:
        """One part."""
        name, sliders, switches = cells(layout)
        name.active = part.found > 0.0
        name.label(text=label(part.name), translate=False)
        sliders.active = not part.mute and (part.solo or not any(other.solo for other in state.parts))
        sliders.prop(part, "amount", text="", slider=True)
        sliders.prop(part, "softness", text="", slider=True)
        draw_switches(switches, part)


class JOUNCE_MT_part_add(bpy.types.Menu):
    """Ways to make a part of your own, and kinds of it from Blender's presets of the operator"""

    bl_label = "Add Part"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the ways; then our presets and the artist's own, for what is selected in this mode."""
        layout = self.layout
        layout.operator_enum("jounce.part_add", "where")
        layout.separator()
        for name, path in preset_values.found(bpy.utils.preset_paths(PRESETS)).items():
            operator = layout.operator("jounce.part_add", text=name)
            operator.where, operator.part_name = "BONES" if context.mode == "POSE" else "SELECTION", name
            for setting, value in preset_values.values(path.read_text("utf-8", "replace"), SETTINGS).items():
                setattr(operator, setting, value)
        layout.separator()
        layout.operator("jounce.part_paint", icon="BRUSH_DATA")
        layout.operator("jounce.part_remove", icon="REMOVE")


def draw_switches(layout: bpy.types.UILayout, owner: bpy.types.PropertyGroup, prefix: str = "") -> None:
    """Shows the switches of a part, or with the prefix `bones_` those of all parts of the selected bones."""
    for switch, (on, off) in SWITCHES.items():
        name = prefix + switch
        layout.prop(owner, name, text="", icon=on if getattr(owner, name) else off, emboss=False)


def draw_damping(layout: bpy.types.UILayout, part: bpy.types.PropertyGroup) -> None:
    """Shows the damping of the selected part below the list."""
    split = layout.split(factor=CHOSEN, align=True)
    split.label(text=label(part.name), translate=False)
    split.prop(part, "damping", slider=True)


def draw_clothes(layout: bpy.types.UILayout, clothes: list[bpy.types.Object]) -> None:
    """Shows the clothes of the body, each with its amount and its softness."""
    for obj in clothes:
        name, sliders, icon = cells(layout)
        name.label(text=obj.name, translate=False)
        sliders.prop(obj.jounce, "strength", text="", slider=True)
        sliders.prop(obj.jounce, "softness", text="", slider=True)
        icon.label(icon="MOD_CLOTH")


def cells(layout: bpy.types.UILayout) -> tuple[bpy.types.UILayout, ...]:
    """The places of the name, the sliders and the switches in a row."""
    row = layout.row(align=True)
    split = row.split(factor=NAME, align=True)
    return split.row(), split.row(align=True), row.row(align=True)


def label(name: str) -> str:
    """The displayed name of a part, in the language of the interface."""
    return bpy.app.translations.pgettext_iface(LABELS.get(name, name), "Jounce")


def draw_parts(layout: bpy.types.UILayout, host: bpy.types.Object) -> None:
    """Shows the list, below it the clothes, and the sliders for the parts of the selected bones."""
    state, clothes = host.jounce, bodies.clothes_of(host)
    if not state.has_list and not clothes:
        return
    column = layout.column(align=True)
    name, sliders, menu = cells(column)
    name.label(text="Parts")
    sliders.label(text="Amount")
    sliders.label(text="Softness")
    menu.menu(JOUNCE_MT_part_add.__name__, text="", icon="ADD")
    if state.has_list:
        rows = min(len(state.parts), ROWS)
        column.template_list(
            "JOUNCE_UL_parts",
            "",
            state,
            "parts",
            state,
            "part_index",
            rows=rows,
            maxrows=rows,
            sort_lock=True,
        )
    chosen = state.parts_of_bones()
    if state.has_list and state.part is not None and not chosen:
        draw_damping(column, state.part)
    if clothes:
        draw_clothes(column.box().column(align=True), clothes)
    if chosen:
        box = layout.box().column(align=True)
        row = box.row(align=True)
        row.label(text=", ".join(label(part.name) for part in chosen), icon="BONE_DATA", translate=False)
        draw_switches(row, state, "bones_")
        box.prop(state, "bones_amount", slider=True)
        box.prop(state, "bones_softness", slider=True)
        box.prop(state, "bones_damping", slider=True)
