"""Settings that act at once, whoever sets them."""

import bpy

# What a build writes begins with this; it is no setting.
WRITTEN = "built_"


def refresh(state: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Has the object evaluated again: Blender does not do so when a script sets a property of an add-on."""
    state.id_data.update_tag()


def refreshing(settings: type) -> type:
    """Makes each setting of a class that has no update of its own refresh its object."""
    for name, setting in settings.__annotations__.items():
        if not name.startswith(WRITTEN):
            setting.keywords.setdefault("update", refresh)
    return settings
