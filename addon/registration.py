"""Everything Blender has to know about, in the order it is registered."""

import bpy

from . import props
from .core import bodies
from .ops import add, bake, build, free_bake, maps, remove
from .panels import sidebar

CLASSES = (
    props.JounceObject,
    add.JOUNCE_OT_add,
    build.JOUNCE_OT_build,
    bake.JOUNCE_OT_bake,
    free_bake.JOUNCE_OT_free_bake,
    remove.JOUNCE_OT_remove,
    maps.JOUNCE_OT_map_add,
    maps.JOUNCE_OT_map_from_selection,
    maps.JOUNCE_OT_map_from_bones,
    *sidebar.CLASSES,
)


def register() -> None:
    """Registers all classes and hangs the settings on objects."""
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.jounce = bpy.props.PointerProperty(type=props.JounceObject, name="Jounce")


def unregister() -> None:
    """Undoes `register` and drops the built bodies from memory."""
    del bpy.types.Object.jounce
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
    bodies.CACHE.clear()
