"""Add Jounce where artists look for it: the menu Object, and the search."""

import bpy
import layouts
import scenes


def entries():
    """Entries of Jounce in the menu Object."""
    return [draw for draw in bpy.types.VIEW3D_MT_object._dyn_ui_initialize() if "jounce" in draw.__module__]


def drawn():
    """The buttons in the menu Object that are Jounce's."""
    menu = layouts.stand_in(bpy.types.VIEW3D_MT_object)
    for draw in entries():
        draw(menu, layouts.Context())
    return menu.layout.operators()


def test_add_jounce_is_in_the_menu_object():
    assert drawn() == ["jounce.setup"]


def test_the_search_finds_add_jounce_by_its_name():
    # F3 lists the menus of the editor, and with developer extras all operators with a label that are not
    # internal.
    known = bpy.ops.jounce.setup.get_rna_type()
    assert known.name == "Add Jounce" and known.description
    assert "INTERNAL" not in bpy.types.JOUNCE_OT_setup.bl_options


def test_the_entry_acts_where_the_operator_can_and_goes_with_the_extension(module):
    obj, _ = scenes.character()
    scenes.activate(obj)
    assert bpy.ops.jounce.setup.poll()
    menu = module("panels.object_menu")
    menu.unregister()
    assert drawn() == []
    menu.register()
    assert drawn() == ["jounce.setup"]
