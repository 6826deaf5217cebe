"""The objects that bodies collide with: put into their collections, and made."""

import bpy
import numpy as np

from ..common import marks, registry
from . import colliders

# How many times wider than the body a new ground is.
WIDE = 4.0


def candidates(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The selected objects that a body can collide with."""
    return [
        obj
        for obj in context.selected_objects
        if obj.type in colliders.TYPES and not registry.is_of_body(obj)
    ]


def put(host: bpy.types.Object, objects: list[bpy.types.Object], scene: bpy.types.Scene) -> None:
    """Has a body collide with objects too; they stay in the collections that they are in."""
    state = host.jounce
    if state.collision_collection is None:
        made = bpy.data.collections.new(f"{host.name} Colliders")
        scene.collection.children.link(made)
        state.collision_collection = made
    for obj in objects:
        if state.collision_collection.all_objects.get(obj.name) != obj:
            state.collision_collection.objects.link(obj)
    state.use_collisions = True


def ground(shapes: list[np.ndarray]) -> bpy.types.Object:
    """A flat square below shapes (p, 3) in Blender units, in no collection; it is not rendered."""
    points = np.concatenate(shapes)
    low, high = points.min(axis=0), points.max(axis=0)
    half = 0.5 * WIDE * float(np.linalg.norm(high - low))
    mesh = bpy.data.meshes.new("Ground")
    mesh.from_pydata(
        [(-half, -half, 0), (half, -half, 0), (half, half, 0), (-half, half, 0)], [], [(0, 1, 2, 3)]
    )
    obj = collider("Ground", mesh)
    obj.location = (*(0.5 * (low + high))[:2], low[2])
    return obj


def collider(name: str, mesh: bpy.types.Mesh) -> bpy.types.Object:
    """An object that is there to collide with: drawn as lines, not rendered."""
    obj = bpy.data.objects.new(name, mesh)
    for block in (obj, mesh):
        marks.put(block, marks.COLLIDER)
    obj.display_type, obj.hide_render = "WIRE", True
    return obj
