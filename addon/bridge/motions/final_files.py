"""Files of final motions: beside the .blend, or in the folder for caches; in memory for an unsaved .blend.

Their contents can be simulated again, and they are deleted with the cache of the body.
"""

from contextlib import suppress
from pathlib import Path

import bpy

from ...core.storage.cache import Origin
from ...core.storage.final_cache import SUFFIX, FinalCache, is_cache
from ..rig import modifier_stack

RELATIVE = "//"

# Motions without a file, by the host's session identifier.
_unsaved: dict[int, FinalCache] = {}


def file_stem() -> str:
    """Common start of the names of all caches of this .blend."""
    return Path(bpy.data.filepath).stem or modifier_stack.NAME


def path_of(host: bpy.types.Object) -> Path | None:
    """The file of a host; None for a .blend without a place."""
    folder = host.jounce.cache_folder or RELATIVE
    if not bpy.data.filepath and folder.startswith(RELATIVE):
        return None
    name = f"{file_stem()} {bpy.path.clean_name(host.name_full)}{SUFFIX}"
    return Path(bpy.path.abspath(folder)) / name


def cache(host: bpy.types.Object, origin: Origin, first: int) -> FinalCache:
    """The known frames of a host's final motion."""
    path, known = path_of(host), _unsaved.get(host.session_uid)
    if path is None and known is not None and (known.origin, known.first) == (origin, first):
        return known
    made = FinalCache(origin, first, path)
    if path is None:
        _unsaved[host.session_uid] = made
    return made


def moved(host: bpy.types.Object, before: FinalCache) -> FinalCache:
    """A final motion in the present place of its host's; the earlier file stays."""
    _unsaved.pop(host.session_uid, None)
    return before.moved(path_of(host))


def forget(host: bpy.types.Object) -> None:
    """Deletes the final motion of a host."""
    _unsaved.pop(host.session_uid, None)
    delete(path_of(host))


def keep_only(uids: set[int]) -> None:
    """Forgets motions without a file, but for those of the hosts with these session identifiers."""
    for uid in _unsaved.keys() - uids:
        del _unsaved[uid]


def delete(path: Path | None) -> None:
    """Deletes a file made by Jounce, if there is one."""
    with suppress(OSError):
        if path is not None and is_cache(path):
            path.unlink()
