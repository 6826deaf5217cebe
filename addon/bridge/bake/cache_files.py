"""Which .blend a mesh cache or a sound belongs to, and when its file may be deleted.

An object records the .blend that was open when it was baked, and the path of the file as that .blend has it.
The file is deleted only where both are still so: not from another .blend that was saved from the first one or
appended its objects, but from one that was moved or copied together with its cache.
"""

import atexit
from pathlib import Path

import bpy
from bpy.app.handlers import persistent

from ...core import freed, pc2
from ..common import handlers

SIBLING = "//"
PARENT = "//.."


def record(obj: bpy.types.Object, path: str, blend: str) -> None:
    """Remembers the cache of a mesh, as a .blend gives its path."""
    obj.jounce.bake_cache, obj.jounce.bake_blend = path, blend


def is_own(modifier: bpy.types.MeshCacheModifier) -> bool:
    """Whether the open .blend has made what a modifier plays."""
    state = modifier.id_data.jounce
    if modifier.id_data.library is not None:
        return False
    return is_made_here(state.bake_cache, state.bake_blend, modifier.filepath)


def is_made_here(path: str, blend: str, plays: str) -> bool:
    """Whether the open .blend has made a file. path, blend: as recorded then; plays: the path of today."""
    here = bpy.data.filepath
    if not path:
        return False
    if blend == here:
        return Path(bpy.path.abspath(path)) == Path(bpy.path.abspath(plays))
    moves_along = path.startswith(SIBLING) and not path.startswith(PARENT)
    return moves_along and plays == path and Path(blend).name == Path(here).name


def free(path: Path) -> None:
    """Gives up a cache of the open .blend, unless something still plays it."""
    if path not in played() and pc2.is_cache(path):
        freed.CACHES.free(path, bpy.data.filepath)


def path_of(modifier: bpy.types.MeshCacheModifier) -> Path:
    """Where the file of a modifier is."""
    return Path(bpy.path.abspath(modifier.filepath, library=modifier.id_data.library))


def played() -> set[Path]:
    """The files of all Mesh Cache modifiers and of all sounds."""
    modifiers = (modifier for obj in bpy.data.objects for modifier in obj.modifiers)
    caches = {path_of(modifier) for modifier in modifiers if modifier.type == "MESH_CACHE"}
    sounds = bpy.data.sounds
    return caches | {Path(bpy.path.abspath(each.filepath, library=each.library)) for each in sounds}


@persistent
def after_saving(path: str, *_: object) -> None:
    """What nothing plays any more goes with the file that played it."""
    if path == bpy.data.filepath:
        freed.CACHES.saved(path, played())
    else:
        freed.CACHES.copied(played())


@persistent
def after_loading(*_: object) -> None:
    """Another file, and nothing to be undone to."""
    freed.CACHES.opened(played())


HANDLERS = {"save_post": after_saving, "load_post": after_loading}


def register() -> None:
    """Watches what is saved and opened, and the end of the session."""
    handlers.listen(HANDLERS, True)
    atexit.register(freed.CACHES.end)


def unregister() -> None:
    """Undoes `register`, and ends the session of the files: nobody would look after them later."""
    handlers.listen(HANDLERS, False)
    atexit.unregister(freed.CACHES.end)
    freed.CACHES.end()
