"""Objects with Jounce data, found without creating data on others.

Reading `obj.jounce` creates an empty group of settings on the object, which is saved with the file. Code that
may meet arbitrary objects asks here instead. The meshes of all bodies are collected once after objects were
added or removed, not at every redraw and frame: a file may have thousands of objects.
"""

import bpy
from bpy.app.handlers import persistent

from . import handlers

# Format of the data on meshes of bodies.
FORMAT = 1

_meshes: list[bpy.types.Object] | None = None
_looks = 0
# Objects joined to a body in this session, by session_uid; others come from copying or from a file.
JOINED: set[int] = set()


def state(block: bpy.types.Object | bpy.types.Scene) -> bpy.types.PropertyGroup | None:
    """Jounce data of an object or a scene, None without any."""
    return block.jounce if block.is_property_set("jounce") else None


def forget_empty(block: bpy.types.Object | bpy.types.Scene) -> None:
    """Removes empty Jounce data from an object or a scene."""
    kept = state(block)
    if kept is not None and not any(map(kept.is_property_set, stored(kept))):
        block.property_unset("jounce")


def stored(kept: bpy.types.PropertyGroup) -> list[str]:
    """Names of the stored properties; others are made from them, and always count as set."""
    return [prop.identifier for prop in kept.bl_rna.properties if prop.is_runtime and not prop.is_skip_save]


def is_of_body(obj: bpy.types.Object) -> bool:
    """True for a mesh of a body, or of a body whose host was deleted."""
    kept = state(obj) if obj.type == "MESH" else None
    if kept is None or kept.is_host:
        return kept is not None
    # Blender gives an overridden object a pointer to no host, and no format.
    return kept.is_property_set("host") and (kept.host is not None or kept.format > 0)


def is_host(obj: bpy.types.Object) -> bool:
    """True if an object carries the settings of a body."""
    kept = state(obj)
    return kept is not None and kept.is_host


def linked(obj: bpy.types.Object, name: str) -> bpy.types.Object | None:
    """The object that Jounce data point to, None for none; reading an unset pointer would set it."""
    return getattr(obj.jounce, name) if obj.jounce.is_property_set(name) else None


def is_worn(obj: bpy.types.Object) -> bool:
    """True for the host of a piece of clothing."""
    return linked(obj, "wearer") is not None


def meshes() -> list[bpy.types.Object]:
    """The meshes of all bodies in the file, local before linked ones, each by name."""
    global _meshes
    if _meshes is None or not all(map(is_there, _meshes)):
        _meshes = [obj for obj in bpy.data.objects if is_of_body(obj)]
        for overrides in filter(None, (obj.override_library for obj in _meshes)):
            if overrides.reference is not None:
                # Blender 5 loses an override's additions to a group that the linked object lacks completely.
                _ = overrides.reference.jounce
    return sorted(filter(is_of_body, _meshes), key=rank)


def is_there(block: bpy.types.ID) -> bool:
    """True if a data-block has not been deleted."""
    try:
        return bool(block.name)
    except ReferenceError:
        return False


def rank(obj: bpy.types.Object) -> tuple[bool, str, str]:
    """Sorts objects as Blender does."""
    return obj.library is not None, obj.name.lower(), obj.name


def look_again() -> None:
    """Requests a new collection of the objects."""
    global _meshes, _looks
    _meshes = None
    _looks += 1


def looks() -> int:
    """Number of possible changes to the set of objects."""
    return _looks


@persistent
def before_saving(*_: object) -> None:
    """The list of overrides decides about the saved data."""
    look_again()
    meshes()


@persistent
def after_step(*_: object) -> None:
    """Other objects than before: a file was opened, or a step undone."""
    look_again()


@persistent
def after_change(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Notes added or removed objects, which always change a collection."""
    if depsgraph.id_type_updated("COLLECTION"):
        look_again()


HANDLERS = {
    "load_pre": after_step,
    "load_post": after_step,
    "undo_pre": after_step,
    "undo_post": after_step,
    "redo_pre": after_step,
    "redo_post": after_step,
    "save_pre": before_saving,
    "depsgraph_update_post": after_change,
    "frame_change_post": after_change,
}


def register() -> None:
    """Watches added and removed objects."""
    handlers.listen(HANDLERS, True)


def unregister() -> None:
    """Undoes `register`."""
    handlers.listen(HANDLERS, False)
    look_again()
