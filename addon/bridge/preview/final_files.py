"""Files of final motions: beside the .blend, or in the folder for caches.

Their contents can be simulated again, and they are deleted with the cache of the body.
"""

from contextlib import suppress
from pathlib import Path

import bpy

from ...core.final_cache import SUFFIX, is_cache
from ..bake import mesh_cache

RELATIVE = "//"


def path_of(host: bpy.types.Object) -> Path | None:
    """The file of a host; None for a .blend without a place."""
    folder = host.jounce.cache_folder or RELATIVE
    if not bpy.data.filepath and folder.startswith(RELATIVE):
        return None
    name = f"{mesh_cache.file_stem()} {bpy.path.clean_name(host.name_full)}{SUFFIX}"
    return Path(bpy.path.abspath(folder)) / name


def delete(path: Path | None) -> None:
    """Deletes a file made by Jounce, if there is one."""
    with suppress(OSError):
        if path is not None and is_cache(path):
            path.unlink()
