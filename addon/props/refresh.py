"""Settings with an immediate effect, also when set by scripts."""

import bpy

# Prefix of the values written by a build, which are no settings.
WRITTEN = "built_"


def refresh(state: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Requests a new evaluation of the object: Blender makes none when a script sets an add-on's property."""
    state.id_data.update_tag()


def refreshing(settings: type) -> type:
    """Lets each setting of a class without another update refresh the object."""
    for name, setting in settings.__annotations__.items():
        if not name.startswith(WRITTEN):
            setting.keywords.setdefault("update", refresh)
    return settings
