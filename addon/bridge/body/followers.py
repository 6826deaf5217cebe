"""Finds the meshes of a body that follow the shape of another one by themselves, such as clothes bound to it.

The scene is asked: each mesh is swollen and pushed aside a little, where its flesh would be added, and what
moves along follows it. This is done at rest, where what only takes weights from another mesh does not move.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from ..common import modifier_stack
from ..rig import bone_transforms, rig_stack
from . import meshes

# By which share of its size a mesh is pushed, and where to.
PUSH, DIRECTIONS = 0.01, ("NORMAL", "X")
# Vertices that move by this share of a push follow it; a mesh follows if this share of its vertices does.
MOVES, FOLLOWS = 0.1, 0.5


def leaders(
    objects: tuple[bpy.types.Object, ...], view_layer: bpy.types.ViewLayer
) -> dict[bpy.types.Object, bpy.types.Object]:
    """For each mesh that follows others, the first of these. To be asked with armatures at rest."""
    with without_ours(objects):
        view_layer.update()
        found = moved_with(objects, view_layer)
    view_layer.update()
    return found


def moved_with(
    objects: tuple[bpy.types.Object, ...], view_layer: bpy.types.ViewLayer
) -> dict[bpy.types.Object, bpy.types.Object]:
    """The result of `leaders`; no bake and no preview covers the shape that other modifiers make."""
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
    """Flags (p,) of points (p, 3) further than a distance from others; all where these are more or fewer."""
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
    """Meshes without what plays their bakes and shows their previews."""
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
    """A mesh that is pushed where its flesh would be added, by a distance in its own space."""
    modifier = modifier_stack.insert(obj, "DISPLACE")
    modifier.direction, modifier.mid_level, modifier.strength = direction, 0.0, distance
    try:
        view_layer.update()
        yield
    finally:
        modifier_stack.remove(obj, modifier)
