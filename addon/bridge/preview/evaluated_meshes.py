"""Reads meshes as displayed: after all modifiers, in the evaluated frame."""

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils.kdtree import KDTree

from ..common import units

# Number of original vertices for the value of an added vertex.
NEAREST = 3
# Limits the weight of a coincident vertex, in Blender units.
TOUCHING = 1e-9


@dataclass(frozen=True)
class Shape:
    """An evaluated mesh: points and normals (p, 3) f32, triangles (q, 3) i32, its world matrix (4, 4) f64.

    Points and normals are in the object's space, in Blender units.
    """

    points: np.ndarray
    normals: np.ndarray
    triangles: np.ndarray
    matrix: np.ndarray

    def in_metres(self, scale: float) -> np.ndarray:
        """World positions (p, 3) f64; scale: metres a unit."""
        return units.points_in_metres(self.points.astype(np.float64), self.matrix, scale)


def shape(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> Shape:
    """The evaluated mesh of an object."""
    result = obj.evaluated_get(depsgraph)
    mesh = result.data
    mesh.calc_loop_triangles()
    points = np.empty((len(mesh.vertices), 3), np.float32)
    normals = np.empty((len(mesh.vertices), 3), np.float32)
    triangles = np.empty((len(mesh.loop_triangles), 3), np.int32)
    mesh.attributes["position"].data.foreach_get("vector", points.ravel())
    mesh.vertex_normals.foreach_get("vector", normals.ravel())
    mesh.loop_triangles.foreach_get("vertices", triangles.ravel())
    return Shape(points, normals, triangles, np.array(result.matrix_world))


def carriers(points: np.ndarray, known: int) -> tuple[np.ndarray, np.ndarray]:
    """For each of the points (p, 3) some of the first `known`, (p, k) i64, and their weights, (p, k).

    Modifiers that add vertices (subdivision, mirror, solidify) append them to the mesh's own; added vertices
    take the values of the nearest own ones.
    """
    tree = KDTree(known)
    for index, point in enumerate(points[:known].tolist()):
        tree.insert(point, index)
    tree.balance()
    found = [tree.find_n(point, NEAREST) for point in points.tolist()]
    rows = np.array([[index for _, index, _ in near] for near in found])
    closeness = 1.0 / (np.array([[distance for _, _, distance in near] for near in found]) + TOUCHING)
    return rows, closeness / closeness.sum(axis=1, keepdims=True)


def is_shown(obj: bpy.types.Object, space: bpy.types.SpaceView3D) -> bool:
    """True if a viewport shows the surface of an object."""
    return obj.mode != "EDIT" and obj.visible_get() and obj.visible_in_viewport_get(space)
