"""Tools that fill maps: spheres around the cursor, smoothing, mirror images, surfaces of other bodies."""

from collections.abc import Iterable, Iterator

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree
from mathutils.kdtree import KDTree

from ...core.mesh import map_shapes
from ...core.mesh.maps import Kind
from ..rig import armature_modifier, meshes
from . import bodies, weight_maps

# Largest distance of a mesh lying on another, as a share of the size.
REACH = 0.04


def around(obj: bpy.types.Object, context: bpy.types.Context, radius: float) -> np.ndarray:
    """Falloff (p,) around the 3D cursor at each vertex, with a radius relative to the size of the mesh.

    In the displayed pose; in the rest shape in Edit Mode, and if modifiers change the vertices.
    """
    evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
    points = meshes.rest_points(obj)
    if obj.mode != "EDIT" and len(evaluated.data.vertices) == len(points):
        flat = np.empty(3 * len(points), np.float32)
        evaluated.data.attributes["position"].data.foreach_get("vector", flat)
        points = flat.reshape(-1, 3).astype(np.float64)
    matrix = np.array(evaluated.matrix_world)
    points = points @ matrix[:3, :3].T + matrix[:3, 3]
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    return map_shapes.sphere(points, np.array(context.scene.cursor.location), radius * size)


def rim(obj: bpy.types.Object, inside: np.ndarray, width: float) -> np.ndarray:
    """Falloff (p,) around chosen vertices along the surface. width: relative to the size of the mesh."""
    points = rest_in_world(obj)
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    return map_shapes.rim(points, links(obj), inside, width * size)


def links(obj: bpy.types.Object) -> np.ndarray:
    """Pairs (k, 2) of vertices with a straight way between them: edges, and diagonals of faces."""
    flat = np.empty(2 * len(obj.data.edges), np.int32)
    obj.data.edges.foreach_get("vertices", flat)
    corners = meshes.triangles(obj, flipped=False)
    quads = np.array([face.vertices for face in obj.data.polygons if len(face.vertices) == 4], int)
    quads = quads.reshape(-1, 4)
    sides = [corners[:, pair] for pair in ((0, 1), (1, 2), (2, 0))]
    return np.concatenate((flat.reshape(-1, 2), *sides, quads[:, (0, 2)], quads[:, (1, 3)]))


def smoothed(obj: bpy.types.Object, values: np.ndarray, times: int) -> np.ndarray:
    """Values (p,) smoothed along the edges of the mesh."""
    flat = np.empty(2 * len(obj.data.edges), np.int32)
    obj.data.edges.foreach_get("vertices", flat)
    return map_shapes.smoothed(values, flat.reshape(-1, 2), times)


def mirrored(obj: bpy.types.Object, values: np.ndarray, from_negative: bool) -> np.ndarray:
    """Values (p,), with the other side copied from the nearest vertices of the mirror image."""
    points = meshes.rest_points(obj)
    tree = KDTree(len(points))
    for index, point in enumerate(points):
        tree.insert(point, index)
    tree.balance()
    other = points[:, 0] > 0.0 if from_negative else points[:, 0] < 0.0
    image = points[other] * (-1.0, 1.0, 1.0)
    result = values.copy()
    result[other] = values[[tree.find(point)[1] for point in image]]
    return result


def on_both_sides(obj: bpy.types.Object, values: np.ndarray) -> np.ndarray:
    """The larger of the values (p,) and of their mirror image."""
    return np.maximum.reduce([values, *(mirrored(obj, values, negative) for negative in (False, True))])


def spread(
    obj: bpy.types.Object, values: np.ndarray, others: Iterable[bpy.types.Object]
) -> Iterator[tuple[bpy.types.Object, np.ndarray]]:
    """Each of the meshes that lie on a mesh, such as clothes, with the values (p,) at its nearest places.

    The values fade out with the distance at rest, and end at `REACH` of the size of the mesh.
    """
    points = rest_in_world(obj)
    reach = REACH * float(np.linalg.norm(np.ptp(points, axis=0)))
    triangles = meshes.triangles(obj, flipped=False)
    skin = Skin(points, triangles, values)
    for other in others if len(triangles) else ():
        meshes.bring_up_to_date(other)
        found, distances = skin.nearest(rest_in_world(other))
        yield other, found * np.clip(2.0 - 2.0 * distances / reach, 0.0, 1.0)


def of_bones(obj: bpy.types.Object) -> np.ndarray:
    """Share (p,) in [0, 1] of the bones selected in Pose Mode in each vertex; 0 without an armature."""
    deformer = armature_modifier.deformer(obj, lambda _sentence: None)
    return nothing(obj) if deformer is None else weight_maps.share_of_bones(obj, deformer.armature)


def nothing(obj: bpy.types.Object) -> np.ndarray:
    """The value 0 (p,) of each vertex."""
    return np.zeros(len(obj.data.vertices))


def copy(source: bpy.types.Object, target: bpy.types.Object, kind: Kind, muscle: int = 0) -> None:
    """Gives each vertex of a body the value of a map at the nearest place on another body's surface."""
    objects, others = bodies.members(source), bodies.members(target)
    values = [weight_maps.values(source, objects, obj, kind, muscle) for obj in objects]
    for obj, found in carried(source, values, target):
        weight_maps.fill(obj, weight_maps.ensure(target, others, obj, kind, muscle), found)


def copy_part(source: bpy.types.Object, target: bpy.types.Object, name: str, new: str) -> None:
    """Makes the vertex group of a part of the artist's from that of another body's part, likewise."""
    values = [weight_maps.of_part((obj,), name) for obj in bodies.members(source)]
    for obj, found in carried(source, values, target):
        if found.any():
            weight_maps.new(obj, new, found)


def carried(
    source: bpy.types.Object, values: list[np.ndarray], target: bpy.types.Object
) -> Iterator[tuple[bpy.types.Object, np.ndarray]]:
    """Each mesh of a body, with the values at the nearest places on another body's surface.

    values: (p,) of each of the other body's meshes. Both are seen at rest and as fractions of their bounding
    boxes, so neither size nor place matters.
    """
    points, triangles = [], []
    start = 0
    for obj in bodies.members(source):
        meshes.bring_up_to_date(obj)
        points.append(rest_in_world(obj))
        triangles.append(meshes.triangles(obj, flipped=False) + start)
        start += len(points[-1])
    corners = np.concatenate(points)
    box = np.array((corners.min(axis=0), corners.max(axis=0)))
    skin = Skin(map_shapes.in_box(corners, box), np.concatenate(triangles), np.concatenate(values))
    objects = bodies.members(target)
    for obj in objects:
        meshes.bring_up_to_date(obj)
    placed = [rest_in_world(obj) for obj in objects]
    everything = np.concatenate(placed)
    box = np.array((everything.min(axis=0), everything.max(axis=0)))
    for obj, world in zip(objects, placed, strict=True):
        yield obj, skin.nearest(map_shapes.in_box(world, box))[0]


class Skin:
    """A surface with a value at each point."""

    def __init__(self, points: np.ndarray, triangles: np.ndarray, values: np.ndarray) -> None:
        """points: (p, 3). triangles: (q, 3). values: (p,)."""
        self._points, self._triangles, self._values = points, triangles, values
        self._tree = BVHTree.FromPolygons(points.tolist(), triangles.tolist())

    def nearest(self, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Value (n,) at the nearest point of the surface to each place (n, 3), and the distance (n,)."""
        found = [self._tree.find_nearest(place) for place in places]
        hit = self._triangles[[index for _, _, index, _ in found]]
        points = np.array([point for point, _, _, _ in found])
        values = map_shapes.interpolated(self._points[hit], self._values[hit], points)
        return values, np.array([distance for _, _, _, distance in found])


def rest_in_world(obj: bpy.types.Object) -> np.ndarray:
    """Rest positions (p, 3) of the vertices in the world: in the binding, or at present."""
    matrix = np.array(obj.jounce.bind_matrix).reshape(4, 4)
    if not matrix.any():
        matrix = np.array(obj.matrix_world)
    return meshes.rest_points(obj) @ matrix[:3, :3].T + matrix[:3, 3]
