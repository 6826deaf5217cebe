"""Stitch groups of a body, from the selection in the scene to the inputs of the build."""

from itertools import chain, count

import bpy
import numpy as np

from ...core.common.user_error import UserError
from ...core.mesh import parts
from ...core.mesh.stitches import MOST_GROUPS, Stitches, joined, nearest_pairs
from ..common import units
from ..keys import animation, numbered_keys
from ..rig import meshes

# Weight above which a vertex belongs to a vertex group.
MEMBER = 0.5
KEYS = numbered_keys.Keys("seams", ("closed",), "stitch groups")

# Settings of a stitch group, without the joined vertices.
SETTINGS = ("use", "stiffness", "keep_gap", "closed", "radius")

Ends = tuple[bpy.types.Object, bpy.types.Object]
# Stitches (s, 2) by pairs of meshes.
Found = dict[Ends, np.ndarray]


def read(host: bpy.types.Object, rows: dict[bpy.types.Object, slice]) -> Stitches:
    """The stitches of all active groups, between points of the body's surface. rows: of each mesh."""
    opening, made = openings(host), []
    seams = held(host.jounce)
    # With more groups, the last number is shared by all others, which stay closed.
    room = MOST_GROUPS if len(seams) <= MOST_GROUPS else MOST_GROUPS - 1
    for number, (path, seam) in enumerate(seams):
        opens = opening[path]
        if opens and number >= room:
            raise UserError(
                f"The stitch group {seam.name} opens, and only the first {room} that are on can; "
                "switch others off, or leave it closed."
            )
        made.append(seam_stitches(seam, rows, min(number, MOST_GROUPS - 1), opens))
    return joined(made)


def held(state: bpy.types.PropertyGroup) -> list[tuple[str, bpy.types.PropertyGroup]]:
    """The active groups with stitches, each with the animation path of its closing."""
    seams = enumerate(state.seams)
    return [(KEYS.path(index), seam) for index, seam in seams if seam.use and len(seam.pairs)]


def openings(host: bpy.types.Object) -> dict[str, bool]:
    """For each active group with stitches, by animation path: True if the group opens in some frame."""
    keyed = animation.paths(host.animation_data)
    return {path: seam.closed != 1.0 or path in keyed for path, seam in held(host.jounce)}


def shares(state: bpy.types.PropertyGroup) -> tuple[float, ...]:
    """Closed share of each active group in the frame of an evaluated host."""
    return tuple(seam.closed for _, seam in held(state)[:MOST_GROUPS])


def seam_stitches(
    seam: bpy.types.PropertyGroup, rows: dict[bpy.types.Object, slice], group: int, opens: bool
) -> Stitches:
    """The stitches of one stitch group."""
    ends = [rows.get(mesh) for mesh in (seam.mesh_a, seam.mesh_b)]
    if None in ends:
        raise UserError(f"The stitch group {seam.name} leads to a mesh of another body; remove it.")
    pairs = vertices(seam)
    for end, column in zip(ends, pairs.T, strict=True):
        if column.min() < 0 or column.max() >= end.stop - end.start:
            raise UserError(f"The stitch group {seam.name} leads to a missing vertex; make it again.")
    starts = np.array([end.start for end in ends])
    count = len(pairs)
    return Stitches(
        pairs + starts,
        np.full(count, seam.stiffness),
        np.full(count, float(seam.keep_gap)),
        np.full(count, group),
        np.full(count, seam.radius / 100.0),
        np.full(count, opens),
    )


def vertices(seam: bpy.types.PropertyGroup) -> np.ndarray:
    """The vertices (s, 2) i64 of a stitch group's stitches."""
    return np.array([(pair.a, pair.b) for pair in seam.pairs], np.int64).reshape(-1, 2)


def add(host: bpy.types.Object, name: str, ends: Ends, pairs: np.ndarray) -> bpy.types.PropertyGroup:
    """Adds a stitch group with these stitches, and makes it active."""
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


def take(host: bpy.types.Object, like: bpy.types.PropertyGroup) -> None:
    """Gives a body a stitch group of a merged body."""
    seam = add(host, like.name, (like.mesh_a, like.mesh_b), vertices(like))
    for setting in SETTINGS:
        setattr(seam, setting, getattr(like, setting))


def between(ours: list[bpy.types.Object], theirs: list[bpy.types.Object], share: float, most: int) -> Found:
    """Nearest vertex pairs of two lists of meshes, no further apart than a share of their size."""
    points = [[world_points(obj) for obj in objects] for objects in (ours, theirs)]
    everything = [np.concatenate(each) for each in points]
    pairs = nearest_pairs(*everything, share * extent(everything), most)
    starts = [np.cumsum([0, *map(len, each)])[:-1] for each in points]
    ends = [np.searchsorted(first, at, "right") - 1 for first, at in zip(starts, pairs.T, strict=True)]
    found = {}
    for one, other in sorted(set(zip(*(end.tolist() for end in ends), strict=True))):
        rows = (ends[0] == one) & (ends[1] == other)
        found[ours[one], theirs[other]] = pairs[rows] - (starts[0][one], starts[1][other])
    return found


def extent(points: list[np.ndarray]) -> float:
    """The diagonal of the common bounding box of several arrays of points (p, 3)."""
    return float(np.linalg.norm(np.ptp(np.concatenate(points), axis=0)))


def remove(host: bpy.types.Object, index: int) -> None:
    """Removes a stitch group with its keys; later groups keep their keys."""
    numbered_keys.remove(host, KEYS, index)
    host.jounce.seam_index = max(0, min(index, len(host.jounce.seams) - 1))


def cut(host: bpy.types.Object, count: int) -> None:
    """Removes the newest stitch groups, which have no keys, down to this number."""
    while len(host.jounce.seams) > count:
        host.jounce.seams.remove(len(host.jounce.seams) - 1)


def loose_parts(obj: bpy.types.Object) -> np.ndarray:
    """Loose part (p,) of each vertex."""
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
    """Rest positions (p, 3) f64 of the vertices in the world."""
    return units.points_in_metres(meshes.rest_points(obj), np.array(obj.matrix_world), 1.0)
