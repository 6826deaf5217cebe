"""The .blend that owns a mesh cache or a sound, and the conditions for deleting the file.

An object records the .blend of its bake, and the file's path as stored in this .blend. The file is deleted
only if both still agree: never from a .blend saved from the first one under another name or with appended
objects, but from one moved or copied together with its cache.
"""

import atexit
from pathlib import Path

import bpy
from bpy.app.handlers import persistent

from ...core.storage import freed_files, pc2
from ..common import handlers

SIBLING = "//"
PARENT = "//.."


def record(obj: bpy.types.Object, path: str, blend: str) -> None:
    """Records the cache of a mesh, with the path as the .blend stores it."""
    obj.jounce.bake_cache, obj.jounce.bake_blend = path, blend


def is_own(modifier: bpy.types.MeshCacheModifier) -> bool:
    """True if the open .blend made the file of a modifier."""
    state = modifier.id_data.jounce
    if modifier.id_data.library is not None:
        return False
    return is_made_here(state.bake_cache, state.bake_blend, modifier.filepath)


def is_made_here(path: str, blend: str, plays: str) -> bool:
    """True if the open .blend made a file. path, blend: the recorded values; plays: the present path."""
    here = bpy.data.filepath
    if not path:
        return False
    if blend == here:
        return Path(bpy.path.abspath(path)) == Path(bpy.path.abspath(plays))
    moves_along = path.startswith(SIBLING) and not path.startswith(PARENT)
    return moves_along and plays == path and Path(blend).name == Path(here).name


def free(path: Path) -> None:
    """Gives up a cache of the open .blend, unless still in use."""
    if path not in played() and pc2.is_cache(path):
        freed_files.CACHES.free(path, bpy.data.filepath)


def path_of(modifier: bpy.types.MeshCacheModifier) -> Path:
    """Path of a modifier's file."""
    return Path(bpy.path.abspath(modifier.filepath, library=modifier.id_data.library))


def played() -> set[Path]:
    """The files of all Mesh Cache modifiers and of all sounds."""
    modifiers = (modifier for obj in bpy.data.objects for modifier in obj.modifiers)
    caches = {path_of(modifier) for modifier in modifiers if modifier.type == "MESH_CACHE"}
    sounds = bpy.data.sounds
    return caches | {Path(bpy.path.abspath(each.filepath, library=each.library)) for each in sounds}


@persistent
def after_saving(path: str, *_: object) -> None:
    """Deletes unused files after the save of their .blend."""
    if path == bpy.data.filepath:
        freed_files.CACHES.saved(path, played())
    else:
        freed_files.CACHES.copied(played())


@persistent
def after_loading(*_: object) -> None:
    """Another file, and nothing to be undone to."""
    freed_files.CACHES.opened(played())


HANDLERS = {"save_post": after_saving, "load_post": after_loading}


def register() -> None:
    """Watches saving, opening and the end of the session."""
    handlers.listen(HANDLERS, True)
    atexit.register(freed_files.CACHES.end)


def unregister() -> None:
    """Undoes `register`, and ends the session of the files, which nothing would watch any more."""
    handlers.listen(HANDLERS, False)
    atexit.unregister(freed_files.CACHES.end)
    freed_files.CACHES.end()
