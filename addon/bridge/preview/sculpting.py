"""Copies of a displayed mesh for sculpting a key.

A copy replaces the displayed mesh, hidden meanwhile. The copy stores the mesh, the frame and the shape of the
rig in this frame, independent of later changes of the scene.
"""

from collections.abc import Iterable

import bpy
import numpy as np
from mathutils import Matrix

from ...core.common.user_error import UserError
from ..body import bodies
from ..common import marks, nodes, registry, units
from ..rig import bone_transforms, doubles, meshes, modifier_stack
from . import keying, previews

# Custom properties of a copy, and its attribute with the shape of the rig.
OF, FRAME, POSED = "jounce_of", "jounce_frame", "jounce_posed"


def is_copy(obj: bpy.types.Object | None) -> bool:
    """True for a copy for sculpting."""
    return obj is not None and obj.type == "MESH" and marks.has(obj, marks.SCULPT)


def begin(obj: bpy.types.Object, context: bpy.types.Context) -> bpy.types.Object:
    """Makes a copy of a mesh as it is shown in this frame, and enters Sculpt Mode on it."""
    host, scene = bodies.host_of(obj), context.scene
    known = keying.ready(host, scene.frame_current)
    places = bodies.fleshed(host)
    if obj not in places:
        raise UserError(f"{obj.name} has no flesh; choose a mesh of {host.name} that has.")
    part = known.motions.scene.surface.parts[places.index(obj)]
    moved = part.own(keying.shown(known, scene.frame_current)[part.points].astype(np.float64))
    posed, matrix = posed_points(obj, context)
    scale = units.metres_per_unit(scene)
    points = posed + np.linalg.solve(matrix[:3, :3] * scale, moved.T).T
    made = bpy.data.objects.new(f"{obj.name} Frame {scene.frame_current}", obj.data.copy())
    for block in (made, made.data):
        marks.put(block, marks.SCULPT)
    doubles.hold_still(made)
    made[OF], made[FRAME] = obj, scene.frame_current
    nodes.set_attribute(made.data, POSED, "FLOAT_VECTOR", posed.astype(np.float32))
    doubles.put_points(made, points)
    context.collection.objects.link(made)
    made.matrix_world = Matrix(matrix)
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    obj.hide_set(True)
    for other in context.selected_objects:
        other.select_set(False)
    made.select_set(True)
    context.view_layer.objects.active = made
    bpy.ops.object.mode_set(mode="SCULPT")
    return made


def posed_points(obj: bpy.types.Object, context: bpy.types.Context) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (p, 3) of a mesh in the shape of the rig in this frame, in object space; the matrix (4, 4)."""
    with previews.paused(), modifier_stack.shown_as_posed([obj]):
        depsgraph = context.evaluated_depsgraph_get()
        return doubles.evaluated_points(obj, depsgraph), bone_transforms.world_matrix(obj, depsgraph)


def keep(made: bpy.types.Object, context: bpy.types.Context) -> bpy.types.PropertyGroup:
    """Keeps the shape of a copy as the key of its frame, and removes the copy."""
    obj, frame = made.get(OF), int(made.get(FRAME, 0))
    host = bodies.host_of(obj) if obj is not None else None
    if host is None:
        raise UserError(f"The mesh of {made.name} has no Jounce any more; discard the copy.")
    if made.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    if context.scene.frame_current != frame:
        context.scene.frame_set(frame)
    known = keying.ready(host, frame)
    surface, places = known.motions.scene.surface, bodies.fleshed(host)
    posed = made.data.attributes.get(POSED)
    part = surface.parts[places.index(obj)] if obj in places else None
    count = 0 if part is None else part.points.stop - part.points.start
    if posed is None or len(made.data.vertices) != count:
        raise UserError(
            f"{made.name} has other vertices than {obj.name}, so its shape does not fit; undo the change "
            "of vertices, or discard the copy."
        )
    before = np.empty((count, 3), np.float32)
    posed.data.foreach_get("vector", before.ravel())
    linear = np.array(made.matrix_world)[:3, :3] * units.metres_per_unit(context.scene)
    world = keying.shown(known, frame)
    world[part.points] = (meshes.rest_points(made) - before) @ linear.T
    key = keying.keep(host, frame, world)
    discard(made, context)
    return key


def copies_of(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """The copies of some meshes."""
    originals = set(objects)
    return [obj for obj in bpy.data.objects if is_copy(obj) and obj.get(OF) in originals]


def discard(made: bpy.types.Object, context: bpy.types.Context) -> None:
    """Removes a copy, and shows its mesh again."""
    obj = made.get(OF)
    if made.mode != "OBJECT" and made == context.view_layer.objects.active:
        bpy.ops.object.mode_set(mode="OBJECT")
    doubles.remove(made)
    if obj is not None and registry.is_there(obj) and obj.name in context.view_layer.objects:
        obj.hide_set(False)
        obj.select_set(True)
        context.view_layer.objects.active = obj
