"""Everything Blender has to know about, in the order it is registered."""

import bpy

from . import ops, panels, props
from .core import bodies

CLASSES = (props.JounceObject, *ops.CLASSES, *panels.CLASSES)


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
