"""Finds meshes of a body that follow another mesh on their own, such as bound clothes.

The scene is asked: each mesh is inflated and shifted a little in the place of its flesh; meshes that move
along follow. The test is done at rest, which excludes meshes that only take weights from another mesh.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from ..common import modifier_stack
from ..rig import bone_transforms, rig_stack
from . import meshes

# Distance of a push as a share of the size, and its directions.
PUSH, DIRECTIONS = 0.01, ("NORMAL", "X")
# Share of the push for a following vertex, and share of such vertices in a following mesh.
MOVES, FOLLOWS = 0.1, 0.5


def leaders(
    objects: tuple[bpy.types.Object, ...], view_layer: bpy.types.ViewLayer
) -> dict[bpy.types.Object, bpy.types.Object]:
    """The first leader of each following mesh. Requires armatures at rest."""
    with without_ours(objects):
        view_layer.update()
        found = moved_with(objects, view_layer)
    view_layer.update()
    return found


def moved_with(
    objects: tuple[bpy.types.Object, ...], view_layer: bpy.types.ViewLayer
) -> dict[bpy.types.Object, bpy.types.Object]:
    """The result of `leaders`, with bakes and previews removed from the shape of other modifiers."""
    found: dict[bpy.types.Object, bpy.types.Object] = {}
    before = {obj: world_points(obj, view_layer) for obj in objects}
    for leader in filter(meshes.vertex_count, objects):
        size = float(np.ptp(meshes.rest_points(leader), axis=0).max())
        scale = np.linalg.norm(np.array(leader.matrix_world)[:3, :3], axis=0).max()
        moved = {obj: np.zeros(len(points), bool) for obj, points in before.items() if obj != leader}
        for direction in DIRECTIONS:
            with pushed(leader, direction, PUSH * size, view_layer):
                for obj, flags in moved.items():
                    flags |= far_from(before[obj], world_points(obj, view_layer), MOVES * PUSH * size * scale)
        for obj, flags in moved.items():
            if len(flags) and flags.mean() > FOLLOWS:
                found.setdefault(obj, leader)
    return found


def far_from(points: np.ndarray, others: np.ndarray, distance: float) -> np.ndarray:
    """Flags (p,) of points (p, 3) further than a distance from others; all set for different numbers of
    points.
    """
    if points.shape != others.shape:
        return np.ones(len(points), bool)
    return np.linalg.norm(points - others, axis=1) > distance


def world_points(obj: bpy.types.Object, view_layer: bpy.types.ViewLayer) -> np.ndarray:
    """World positions (p, 3) of the vertices of an evaluated mesh."""
    depsgraph = view_layer.depsgraph
    mesh = obj.evaluated_get(depsgraph).data
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    matrix = bone_transforms.world_matrix(obj, depsgraph)
    return flat.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


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
