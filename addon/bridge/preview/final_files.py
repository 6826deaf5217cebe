"""Where the final motion of a body is kept: a file beside the .blend, or in the folder for caches.

It holds nothing that cannot be simulated again, so it goes with the cache of the body.
"""

from contextlib import suppress
from pathlib import Path

import bpy

from ...core.final_cache import SUFFIX, is_cache
from ..bake import mesh_cache

RELATIVE = "//"


def path_of(host: bpy.types.Object) -> Path | None:
    """The file of a host; None as long as the .blend has no place that it could be beside."""
    folder = host.jounce.cache_folder or RELATIVE
    if not bpy.data.filepath and folder.startswith(RELATIVE):
        return None
    name = f"{mesh_cache.file_stem()} {bpy.path.clean_name(host.name_full)}{SUFFIX}"
    return Path(bpy.path.abspath(folder)) / name


def delete(path: Path | None) -> None:
    """Deletes a file, if there is one that Jounce has made."""
    with suppress(OSError):
        if path is not None and is_cache(path):
            path.unlink()
