"""A menu of presets named after the active body's preset."""

import bpy

from ..bridge.common import preset_files


def draw_presets(
    layout: bpy.types.UILayout, state: bpy.types.PropertyGroup, menu: type[bpy.types.Menu], operator: str
) -> None:
    """Shows the menu, and buttons for saving the body's settings and for removing its preset.

    Blender itself names the menu after the last choice, for any body.
    """
    row = layout.row(align=True)
    row.menu(menu.__name__, text=preset_files.name_of(state, menu.preset_subdir) or menu.title)
    row.operator(operator, text="", icon="ADD")
    row.operator(operator, text="", icon="REMOVE").remove_active = True
