"""Settings that are read from the evaluated scene, because they may be animated."""

import bpy


def refresh(state: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Has the object evaluated again: Blender does not do so when a script sets a property of an add-on."""
    state.id_data.update_tag()
