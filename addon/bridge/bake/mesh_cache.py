"""Bakes whole shapes to PC2 files beside the .blend, played by a Mesh Cache modifier.

A file holds the combined shape of rig and Jounce in object space: the modifier, right after the rig, replaces
the rig's shape. Later modifiers act as before.
"""

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import bpy
import numpy as np

from ...core.bake.prepared import Preparation, Prepared
from ...core.common.task import Step
from ...core.common.user_error import UserError
from ...core.flesh.settings import BakeSettings, Target
from ...core.stepping.motion import Motion
from ...core.storage import pc2
from ..body.bodies import BodyScene
from ..motions import final_files
from ..rig import modifier_stack
from . import cache_files, sampled_meshes

Writers = dict[Path, pc2.Writer]


def prepare(
    scene: BodyScene, body: object, motion: Motion, settings: BakeSettings, context: bpy.types.Context
) -> Preparation:
    """Writes the files beside their final places; leaves no file behind if stopped."""
    writers: Writers = {}
    finished = False
    try:
        for obj, part in zip(scene.objects, scene.surface.parts, strict=True):
            beginning = Path(settings.caches) if settings.caches else own_beginning(scene.host)
            path = new_path(beginning, obj, set(writers))
            count = part.points.stop - part.points.start
            writers[path] = pc2.Writer(path, count, settings.frame_start, len(settings.frames))
        shapes = sampled_meshes.shapes(scene, body, motion, settings.frames, context)
        with closing(shapes):
            error = yield from add_frames(list(writers.values()), shapes, len(settings.frames))
        finished = True
    finally:
        if not finished:
            discard(writers)
    megabytes = sum(writer.size for writer in writers.values()) / 1e6
    parts = f"{len(writers)} cache file(s) of {megabytes:.1f} MB"
    return Prepared(error, parts, partial(write, scene, writers, settings), partial(discard, writers))


def add_frames(writers: list[pc2.Writer], shapes: Generator, count: int) -> Generator[Step, None, float]:
    """Writes the shapes of all frames; returns the rounding error of single precision, in metres."""
    error = 0.0
    for index, frame in enumerate(shapes):
        for writer, (shape, to_metres) in zip(writers, frame, strict=True):
            rounded = shape.astype(np.float32)
            writer.add(rounded)
            lost = (rounded - shape) @ to_metres[:, :3].T
            error = max(error, float(np.linalg.norm(lost, axis=1).max()))
        yield Step(index / count, "Writing the mesh cache")
    return error


def own_beginning(host: bpy.types.Object) -> Path:
    """Common start of the paths of a body's caches: folder, and name of the .blend."""
    folder = host.jounce.cache_folder
    if not bpy.data.filepath and (not folder or folder.startswith("//")):
        raise UserError("The file is not saved yet, so a mesh cache has no place beside it; save it.")
    return Path(bpy.path.abspath(folder or "//")) / final_files.file_stem()


def new_path(beginning: Path, obj: bpy.types.Object, taken: set[Path]) -> Path:
    """New path for the cache of a mesh, named after the mesh, without an existing file or another user."""
    used = {path.name.casefold() for path in taken}
    for other in bpy.data.objects:
        if other != obj:
            used |= {Path(m.filepath).name.casefold() for m in other.modifiers if m.type == "MESH_CACHE"}
    stem = f"{beginning.name} {bpy.path.clean_name(obj.name)}"
    names = (f"{stem}{number}{pc2.SUFFIX}" for number in ("", *(f" {n}" for n in range(2, 1000))))
    free = (name for name in names if name.casefold() not in used)
    return next(path for name in free if not (path := beginning.parent / name).exists())


def write(scene: BodyScene, writers: Writers, settings: BakeSettings) -> None:
    """Puts the files in their places and the modifiers on the meshes."""
    render = bpy.context.scene.render
    for obj, (path, writer) in zip(scene.objects, writers.items(), strict=True):
        writer.finish()
        obj.jounce.bake_target = Target.MESH_CACHE.value
        modifier = modifier_stack.insert_bake(obj, "MESH_CACHE")
        modifier.cache_format = "PC2"
        modifier.filepath = relative(path)
        modifier.frame_start = settings.frame_start
        modifier.frame_scale = render.frame_map_new / render.frame_map_old
        cache_files.record(obj, modifier.filepath, bpy.data.filepath)


def relative(path: Path) -> str:
    """Path relative to the .blend; absolute without a saved .blend or on another drive."""
    try:
        return bpy.path.relpath(str(path)) if bpy.data.filepath else str(path)
    except ValueError:
        return str(path)


@contextmanager
def handed_over(objects: Iterable[bpy.types.Object], copy: Path) -> Iterator[None]:
    """Assigns the caches to a copy of the file while the copy is saved: freeing here does not delete them."""
    played = [
        m
        for obj in objects
        if (m := modifier_stack.bake_modifier(obj)) is not None and m.type == "MESH_CACHE"
    ]
    paths = [Path(bpy.path.abspath(modifier.filepath)) for modifier in played]
    try:
        for modifier, path in zip(played, paths, strict=True):
            cache_files.record(modifier.id_data, f"//{path.name}", str(copy))
            if not bpy.data.filepath:
                modifier.filepath = f"//{path.name}"
        yield
    except BaseException:
        for path in paths:
            path.unlink(missing_ok=True)
        raise
    finally:
        for modifier in played:
            modifier.filepath = ""


def discard(writers: Writers) -> None:
    """Removes the files, finished or not."""
    for writer in writers.values():
        writer.discard()


def free(obj: bpy.types.Object) -> None:
    """Removes the modifier, and gives up the file if made by this .blend and without other users."""
    modifier = modifier_stack.bake_modifier(obj)
    if modifier is not None and modifier.type == "MESH_CACHE":
        is_own = cache_files.is_own(modifier) and not modifier_stack.is_linked(obj, modifier)
        path = cache_files.path_of(modifier)
        modifier_stack.remove(obj, modifier)
        if is_own:
            cache_files.free(path)
    for name in ("bake_cache", "bake_blend"):
        obj.jounce.property_unset(name)
