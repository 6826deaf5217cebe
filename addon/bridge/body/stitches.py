"""Stitch groups of a body, from what is selected in the scene and to what it is built from."""

from itertools import chain, count

import bpy
import numpy as np

from ...core import parts
from ...core.stitches import Stitches, joined
from ...core.user_error import UserError
from ..common import units
from . import meshes

# Share of a vertex group above which a vertex belongs to it.
MEMBER = 0.5

Ends = tuple[bpy.types.Object, bpy.types.Object]


def read(host: bpy.types.Object, rows: dict[bpy.types.Object, slice]) -> Stitches:
    """The stitches of all groups that are on, between points of the body's surface. rows: of each mesh."""
    return joined([seam_stitches(seam, rows) for seam in host.jounce.seams if seam.use and len(seam.pairs)])


def seam_stitches(seam: bpy.types.PropertyGroup, rows: dict[bpy.types.Object, slice]) -> Stitches:
    """The stitches of one stitch group."""
    ends = [rows.get(mesh) for mesh in (seam.mesh_a, seam.mesh_b)]
    if None in ends:
        raise UserError(f"The stitch group {seam.name} leads to a mesh that is not of this body; remove it.")
    pairs = vertices(seam)
    for end, column in zip(ends, pairs.T, strict=True):
        if column.min() < 0 or column.max() >= end.stop - end.start:
            raise UserError(f"The stitch group {seam.name} leads to a vertex that is gone; make it again.")
    starts = np.array([end.start for end in ends])
    count = len(pairs)
    return Stitches(pairs + starts, np.full(count, seam.stiffness), np.full(count, float(seam.keep_gap)))


def vertices(seam: bpy.types.PropertyGroup) -> np.ndarray:
    """The vertices (s, 2) i64 of a stitch group's stitches."""
    return np.array([(pair.a, pair.b) for pair in seam.pairs], np.int64).reshape(-1, 2)


def add(host: bpy.types.Object, name: str, ends: Ends, pairs: np.ndarray) -> bpy.types.PropertyGroup:
    """A new stitch group of these stitches, which becomes the chosen one."""
    taken = {seam.name for seam in host.jounce.seams}
    names = chain([name], (f"{name} {number}" for number in count(2)))
    seam = host.jounce.seams.add()
    seam.name = next(free for free in names if free not in taken)
    seam.mesh_a, seam.mesh_b = ends
    for a, b in pairs.tolist():
        pair = seam.pairs.add()
        pair.a, pair.b = a, b
    host.jounce.seam_index = len(host.jounce.seams) - 1
    return seam


def remove(host: bpy.types.Object, index: int) -> None:
    """Takes a stitch group away."""
    host.jounce.seams.remove(index)
    host.jounce.seam_index = max(0, min(index, len(host.jounce.seams) - 1))


def loose_parts(obj: bpy.types.Object) -> np.ndarray:
    """The number (p,) of the loose part that each vertex belongs to."""
    edges = np.empty(2 * len(obj.data.edges), np.int32)
    obj.data.edges.foreach_get("vertices", edges)
    return parts.labels(meshes.rest_points(obj), edges.reshape(-1, 2))


def members(obj: bpy.types.Object, name: str) -> np.ndarray:
    """The vertices of a vertex group, by number."""
    group = obj.vertex_groups.get(name)
    if group is None:
        raise UserError(f'{obj.name} has no vertex group "{name}"; choose one that it has.')
    return np.flatnonzero(meshes.group_weights(obj)[:, group.index] > MEMBER)


def world_points(obj: bpy.types.Object) -> np.ndarray:
    """Where the vertices (p, 3) f64 are in the world at rest."""
    return units.points_in_metres(meshes.rest_points(obj), np.array(obj.matrix_world), 1.0)
