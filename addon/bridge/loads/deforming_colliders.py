"""Colliders that deform: meshes of bones, shape keys, cloth or caches, as patches that move rigidly."""

import bpy
import numpy as np

from ...core.body import collider_patches
from ...core.body.colliders import polar
from ..common import registry
from ..rig import armature_modifier, bone_transforms, meshes


class DeformingMesh:
    """A mesh with its patches, which follow its bones, or without bones its vertices.

    points (p, 3), triangles (q, 3): of the mesh without modifiers and shape keys, object space. patches: the
    triangles (k,) of each. armature: of the bones, None without any.
    """

    def __init__(self, obj: bpy.types.Object) -> None:
        self.obj, self.armature = obj, armature_of(obj)
        self.points, self.triangles = at_rest(obj)
        names = bone_names(obj, self.armature)
        if names:
            weights = meshes.group_weights(obj)[:, [obj.vertex_groups[name].index for name in names]]
            self.patches, heaviest = collider_patches.of_bones(self.points, self.triangles, weights)
            self._bones = bone_transforms.BoneReader(self.armature, [names[bone] for bone in heaviest])
        else:
            self.patches = collider_patches.even(self.points, self.triangles)
            self._bones = None
        self._rest = [self.points[np.unique(self.triangles[patch])] for patch in self.patches]

    def read(self, depsgraph: bpy.types.Depsgraph, unit: float) -> np.ndarray:
        """Matrices (k, 3, 4) from the object's space to the world, metres, one for each patch.

        NaN for an object at no finite place, and in a frame with fewer vertices or with other bones.
        """
        matrix = bone_transforms.world_matrix(self.obj, depsgraph)[:3] * unit
        unknown = np.full((len(self.patches), 3, 4), np.nan)
        if not np.isfinite(matrix).all():
            return unknown
        # All patches share the object's own size; the rest of the motion is theirs.
        _, (size,) = polar(matrix[None])
        found = self._by_vertices if self._bones is None else self._by_bones
        placements = found(matrix, size, depsgraph, unit)
        return unknown if placements is None else placements

    def _by_vertices(
        self, matrix: np.ndarray, size: np.ndarray, depsgraph: bpy.types.Depsgraph, _unit: float
    ) -> np.ndarray | None:
        # Modifiers that add vertices append them to the mesh's own.
        now = meshes.evaluated_points(self.obj, depsgraph)[: len(self.points)]
        if now.shape != self.points.shape or not np.isfinite(now).all():
            return None
        now, rows = now @ matrix[:, :3].T + matrix[:, 3], []
        for patch, rest in zip(self.patches, self._rest, strict=True):
            rotation, place = collider_patches.placed(rest @ size.T, now[np.unique(self.triangles[patch])])
            rows.append(np.column_stack([rotation @ size, place]))
        return np.array(rows)

    def _by_bones(
        self, matrix: np.ndarray, size: np.ndarray, depsgraph: bpy.types.Depsgraph, unit: float
    ) -> np.ndarray | None:
        """The same from the bones alone: what the mesh shows may contain flesh."""
        if not registry.is_there(self.armature) or not self._bones.has_its_bones():
            return None
        armature = bone_transforms.world_matrix(self.armature, depsgraph)
        armature[:3] *= unit
        bones = self._bones.read(depsgraph)
        if not (np.isfinite(armature).all() and np.isfinite(bones).all()):
            return None
        own = np.linalg.pinv(armature) @ np.concatenate([matrix, [[0.0, 0.0, 0.0, 1.0]]])
        motions = (armature @ bones @ own)[:, :3]
        pairs = zip(motions, self._rest, strict=True)
        return np.array([collider_patches.of_motion(motion, size, rest) for motion, rest in pairs])


def armature_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The armature that deforms a mesh; None without any."""
    first, _ = armature_modifier.first_deformer(obj)
    return None if first is None else first.armature


def at_rest(obj: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    """Points (p, 3) f64 and triangles (q, 3) i64 of a mesh without modifiers and shape keys, object space."""
    return meshes.rest_points(obj), meshes.triangles(obj, False)


def bone_names(obj: bpy.types.Object, armature: bpy.types.Object | None) -> list[str]:
    """Names of the deforming bones with a vertex group of the mesh."""
    bones = set() if armature is None else {bone.name for bone in armature.data.bones if bone.use_deform}
    return [group.name for group in obj.vertex_groups if group.name in bones]


def follows_bones(obj: bpy.types.Object) -> bool:
    """True if patches of a mesh follow bones, whatever flesh it shows."""
    return bool(bone_names(obj, armature_of(obj)))


def trouble(obj: bpy.types.Object, is_of_body: bool, depsgraph: bpy.types.Depsgraph) -> str:
    """Reason in a sentence why patches cannot follow a mesh; empty if they can."""
    if len(obj.data.polygons) == 0:
        return f"{obj.name} has no faces, so nothing collides with it; choose another shape than Mesh."
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
