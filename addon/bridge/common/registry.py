"""Which objects have Jounce, without giving any to those that have none.

To read `obj.jounce` is to give an object an empty group of settings, which is saved with the file. So
whatever may meet objects that are nobody's body asks here. The meshes of all bodies are looked for once
after objects came or went, not at every redraw and frame: a file may have thousands.
"""

import bpy
from bpy.app.handlers import persistent

from . import handlers

# Of what is kept on the meshes of bodies; `old_files` brings those of older versions to it.
FORMAT = 1

_meshes: list[bpy.types.Object] | None = None
_looks = 0
# The objects that were made part of a body, by their session_uid; others came with copying or from a file.
JOINED: set[int] = set()


def state(block: bpy.types.Object | bpy.types.Scene) -> bpy.types.PropertyGroup | None:
    """What Jounce keeps on an object or a scene, None where it keeps nothing."""
    return block.jounce if block.is_property_set("jounce") else None


def forget_empty(block: bpy.types.Object | bpy.types.Scene) -> None:
    """Takes away what Jounce keeps on an object or a scene where it keeps nothing any more."""
    kept = state(block)
    names = () if kept is None else (prop.identifier for prop in kept.bl_rna.properties if prop.is_runtime)
    if kept is not None and not any(map(kept.is_property_set, names)):
        block.property_unset("jounce")


def is_of_body(obj: bpy.types.Object) -> bool:
    """Whether an object is a mesh of a body, or was one of a body whose host is gone."""
    kept = state(obj) if obj.type == "MESH" else None
    if kept is None or kept.is_host:
        return kept is not None
    # Blender gives an object that it overrides a pointer to no host, and no format.
    return kept.is_property_set("host") and (kept.host is not None or kept.format > 0)


def is_host(obj: bpy.types.Object) -> bool:
    """Whether an object carries the settings of a body."""
    kept = state(obj)
    return kept is not None and kept.is_host


def meshes() -> list[bpy.types.Object]:
    """The meshes of all bodies of the file, those of other files after its own, each by name."""
    global _meshes
    if _meshes is None or not all(map(is_there, _meshes)):
        _meshes = [obj for obj in bpy.data.objects if is_of_body(obj)]
        for overrides in filter(None, (obj.override_library for obj in _meshes)):
            if overrides.reference is not None:
                # Blender 5 loses what overrides add to a group that the linked object does not have at all.
                _ = overrides.reference.jounce
    return sorted(filter(is_of_body, _meshes), key=rank)


def is_there(block: bpy.types.ID) -> bool:
    """Whether a data-block has not been deleted."""
    try:
        return bool(block.name)
    except ReferenceError:
        return False


def rank(obj: bpy.types.Object) -> tuple[bool, str, str]:
    """Sorts objects as Blender does."""
    return obj.library is not None, obj.name.lower(), obj.name


def look_again() -> None:
    """Has the objects of the file looked at when they are asked for next."""
    global _meshes, _looks
    _meshes = None
    _looks += 1


def looks() -> int:
    """How often objects may have come or gone."""
    return _looks


@persistent
def before_saving(*_: object) -> None:
    """What is saved of overrides follows from what is known of them."""
    look_again()
    meshes()


@persistent
def after_step(*_: object) -> None:
    """Other objects than before: a file was opened, or a step undone."""
    look_again()


@persistent
def after_change(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Whatever comes into a scene or leaves it changes a collection."""
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
    """Watches what comes and goes."""
    handlers.listen(HANDLERS, True)


def unregister() -> None:
    """Undoes `register`."""
    handlers.listen(HANDLERS, False)
    look_again()
