"""Colliders that deform: meshes of bones, shape keys, cloth or caches, as patches that move rigidly."""

import bpy
import numpy as np

from ...core.body import collider_patches
from ...core.body.colliders import polar
from ..rig import armature_modifier, bone_transforms, meshes


class DeformingMesh:
    """A mesh with its patches, which follow its bones, or without bones its vertices.

    points (p, 3), triangles (q, 3): of the mesh without modifiers and shape keys, object space. patches: the
    triangles (k,) of each.
    """

    def __init__(self, obj: bpy.types.Object) -> None:
        self.obj = obj
        self.points, self.triangles = at_rest(obj)
        names, weights = bone_weights(obj)
        self._bones = None
        if not names:
            self.patches = collider_patches.even(self.points, self.triangles)
        else:
            self.patches, heaviest = collider_patches.of_bones(self.points, self.triangles, weights)
            self._armature = armature_modifier.first_deformer(obj)[0].armature
            self._bones = bone_transforms.BoneReader(self._armature, [names[bone] for bone in heaviest])
        self._vertices = [np.unique(self.triangles[patch]) for patch in self.patches]

    def read(self, depsgraph: bpy.types.Depsgraph, unit: float) -> np.ndarray:
        """Matrices (k, 3, 4) from the object's space to the world, metres, one for each patch.

        NaN in a frame with fewer vertices, or with other bones.
        """
        matrix = bone_transforms.world_matrix(self.obj, depsgraph)[:3] * unit
        # All patches share the object's own size; the rest of the motion is theirs.
        _, sizes = polar(matrix[None])
        rest, now = self.points @ sizes[0].T, self._moved(matrix, depsgraph, unit)
        found = []
        for vertices, points in zip(self._vertices, now, strict=True):
            rotation, place = collider_patches.placed(rest[vertices], points)
            found.append(np.concatenate([rotation @ sizes[0], place[:, None]], axis=1))
        return np.array(found)

    def _moved(self, matrix: np.ndarray, depsgraph: bpy.types.Depsgraph, unit: float) -> list[np.ndarray]:
        """World positions (n, 3) of the vertices of each patch, metres."""
        if self._bones is not None:
            return self._moved_by_bones(matrix, depsgraph, unit)
        # Modifiers that add vertices append them to the mesh's own.
        now = meshes.evaluated_points(self.obj, depsgraph)[: len(self.points)]
        if now.shape != self.points.shape:
            now = np.full(self.points.shape, np.nan)
        return [now[vertices] @ matrix[:, :3].T + matrix[:, 3] for vertices in self._vertices]

    def _moved_by_bones(
        self, matrix: np.ndarray, depsgraph: bpy.types.Depsgraph, unit: float
    ) -> list[np.ndarray]:
        """The same from the bones alone: what the mesh shows may contain flesh."""
        if not self._bones.has_its_bones():
            return [np.full((len(vertices), 3), np.nan) for vertices in self._vertices]
        armature = bone_transforms.world_matrix(self._armature, depsgraph)
        armature[:3] *= unit
        own = np.linalg.solve(armature, np.concatenate([matrix, [[0.0, 0.0, 0.0, 1.0]]]))
        whole = (armature @ self._bones.read(depsgraph) @ own)[:, :3]
        pairs = zip(whole, self._vertices, strict=True)
        return [self.points[vertices] @ each[:, :3].T + each[:, 3] for each, vertices in pairs]


def at_rest(obj: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    """Points (p, 3) f64 and triangles (q, 3) i64 of a mesh without modifiers and shape keys, object space."""
    return meshes.rest_points(obj), meshes.triangles(obj, False)


def bone_weights(obj: bpy.types.Object) -> tuple[list[str], np.ndarray]:
    """Names of the deforming bones of a mesh, and the weights (p, b) of its vertices; none without any."""
    first, _ = armature_modifier.first_deformer(obj)
    bones = set() if first is None else {bone.name for bone in first.armature.data.bones if bone.use_deform}
    groups = [group for group in obj.vertex_groups if group.name in bones]
    if not groups:
        return [], np.empty((0, 0))
    weights = meshes.group_weights(obj)[:, [group.index for group in groups]]
    return ([group.name for group in groups], weights) if weights.any() else ([], weights)


def follows_bones(obj: bpy.types.Object) -> bool:
    """True if patches of a mesh follow bones, whatever flesh it shows."""
    return bool(obj.vertex_groups) and armature_modifier.first_deformer(obj)[0] is not None


def trouble(obj: bpy.types.Object, is_of_body: bool, depsgraph: bpy.types.Depsgraph) -> str:
    """Reason in a sentence why patches cannot follow a mesh; empty if they can."""
    if follows_bones(obj):
        return ""
    if is_of_body:
        return (
            f"{obj.name} has flesh of its own and no bones, so nothing collides with it; choose another "
            "shape than Mesh."
        )
    if len(obj.evaluated_get(depsgraph).data.vertices) < len(obj.data.vertices):
        return (
            f"{obj.name} deforms, and its modifiers take vertices away, so nothing collides with it; choose "
            "another shape than Mesh, or apply the modifiers."
        )
    return ""
