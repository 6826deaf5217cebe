"""Adds Jounce to the menu Object, and thereby to the search through menus."""

import bpy


def draw(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    """Adds the button."""
    menu.layout.separator()
    menu.layout.operator("jounce.setup")


def register() -> None:
    """Hangs the button into the menu."""
    bpy.types.VIEW3D_MT_object.append(draw)


def unregister() -> None:
    """Undoes `register`."""
    bpy.types.VIEW3D_MT_object.remove(draw)
