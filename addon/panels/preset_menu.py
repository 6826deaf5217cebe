"""A menu of presets that is named after the one that the active body has."""

import bpy

from ..bridge.common import preset_files


def draw_presets(
    layout: bpy.types.UILayout, state: bpy.types.PropertyGroup, menu: type[bpy.types.Menu], operator: str
) -> None:
    """Shows the menu, and buttons that save what the body has and remove its preset.

    Blender itself gives the menu the name of what was chosen last, for whichever body.
    """
    row = layout.row(align=True)
    row.menu(menu.__name__, text=preset_files.name_of(state, menu.preset_subdir) or menu.title)
    row.operator(operator, text="", icon="ADD")
    row.operator(operator, text="", icon="REMOVE").remove_active = True
