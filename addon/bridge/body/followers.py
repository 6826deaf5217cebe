"""Finds meshes of a body that already follow another mesh, such as bound clothes, vertex by vertex.

The scene is asked: each mesh is inflated and shifted a little in the place of its flesh; vertices that move
along follow. The test is done at rest, which excludes meshes that only take weights from another mesh.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import numpy as np

from ..rig import bone_transforms, meshes, modifier_stack, rig_stack

# Distance of a push as a share of the size, and its directions.
PUSH, DIRECTIONS = 0.01, ("NORMAL", "X")
# Shares of the push from which on a vertex follows, and from which on it follows wholly: shrinkwrapped ones
# move by three quarters of it.
FOLLOWS, WHOLLY = 0.1, 0.7
# Share of wholly following vertices from which on all of a mesh follows.
ALL = 0.98


@dataclass(frozen=True)
class Follower:
    """A mesh that follows others. leader: the first of these. shares: (p,) in [0, 1], of each vertex."""

    leader: bpy.types.Object
    shares: np.ndarray

    @property
    def rounded(self) -> "Follower":
        """The same mesh, its vertices following wholly or not at all."""
        return Follower(self.leader, np.round(self.shares))

    @property
    def is_whole(self) -> bool:
        """True if nearly all of the mesh follows wholly."""
        return bool(np.mean(self.shares == 1.0) > ALL)


def followers(
    objects: tuple[bpy.types.Object, ...], view_layer: bpy.types.ViewLayer
) -> dict[bpy.types.Object, Follower]:
    """The meshes that follow others, in part or wholly. Requires armatures at rest."""
    with without_ours(objects):
        view_layer.update()
        found = moved_with(objects, view_layer)
        subdivided = [obj for obj in found if len(world_points(obj, view_layer)) != meshes.vertex_count(obj)]
    if subdivided:
        # Without later modifiers their vertices can be told apart.
        with modifier_stack.shown_as_posed(objects):
            view_layer.update()
            apart = moved_with(objects, view_layer)
        found |= {obj: apart.get(obj, found[obj].rounded) for obj in subdivided}
    view_layer.update()
    return found


def moved_with(
    objects: tuple[bpy.types.Object, ...], view_layer: bpy.types.ViewLayer
) -> dict[bpy.types.Object, Follower]:
    """The result of `followers`, without the motion of bakes and previews."""
    found: dict[bpy.types.Object, Follower] = {}
    before = {obj: world_points(obj, view_layer) for obj in objects}
    for leader in filter(meshes.vertex_count, objects):
        size = float(np.ptp(meshes.rest_points(leader), axis=0).max())
        scale = np.linalg.norm(np.array(leader.matrix_world)[:3, :3], axis=0).max()
        moved = {obj: np.zeros(len(points)) for obj, points in before.items() if obj != leader}
        for direction in DIRECTIONS:
            with pushed(leader, direction, PUSH * size, view_layer):
                for obj, shares in moved.items():
                    way = distances(before[obj], world_points(obj, view_layer)) / (PUSH * size * scale)
                    np.maximum(shares, way, out=shares)
        for obj, shares in moved.items():
            shares = np.where(shares > WHOLLY, 1.0, np.where(shares > FOLLOWS, shares, 0.0))
            if len(shares) != meshes.vertex_count(obj):
                # The vertices cannot be told apart.
                shares = np.full(meshes.vertex_count(obj), shares.mean() if len(shares) else 0.0)
            if shares.any():
                first = found.setdefault(obj, Follower(leader, shares))
                found[obj] = Follower(first.leader, np.maximum(first.shares, shares))
    return found


def distances(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Distances (p,) of points (p, 3) from others; infinite for different numbers of points."""
    if points.shape != others.shape:
        return np.full(len(points), np.inf)
    return np.linalg.norm(points - others, axis=1)


def world_points(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> np.ndarray:
    """World positions (p, 3) of the vertices of an evaluated mesh."""
    matrix = bone_transforms.world_matrix(obj, view_layer.depsgraph)
    return meshes.evaluated_points(obj, view_layer.depsgraph) @ matrix[:3, :3].T + matrix[:3, 3]


@contextmanager
def without_ours(objects: tuple[bpy.types.Object, ...]) -> Iterator[None]:
    """Meshes without the modifiers of their bakes and previews."""
    shown = [m for obj in objects for m in obj.modifiers if rig_stack.is_ours(m) and m.show_viewport]
    try:
        for modifier in shown:
            modifier.show_viewport = False
        yield
    finally:
        for modifier in shown:
            modifier.show_viewport = True


@contextmanager
def pushed(
    obj: bpy.types.Object, direction: str, distance: float, view_layer: bpy.types.ViewLayer
) -> Iterator[None]:
    """A mesh pushed in the place of its flesh, by a distance in object space."""
    modifier = modifier_stack.insert(obj, "DISPLACE")
    modifier.direction, modifier.mid_level, modifier.strength = direction, 0.0, distance
    try:
        view_layer.update()
        yield
    finally:
        modifier_stack.remove(obj, modifier)
