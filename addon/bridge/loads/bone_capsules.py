"""Colliders attached to bones of their own body, and the flesh they spare."""

from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...core.body.colliders import Colliders, Solid
from ...core.mesh.surface import Surface
from ...core.rig import bone_capsules
from ..rig import bone_core, bone_transforms
from ..rig.bone_transforms import Mover
from .deforming_colliders import DeformingMesh

# Children surround the head of a bone if their centre is nearer than this share of the furthest.
AROUND = 0.1


@dataclass(frozen=True, eq=False)
class RestRig:
    """The rig of a body at the binding."""

    reader: bone_transforms.PoseReader

    @property
    def unit(self) -> float:
        """Metres a Blender unit."""
        return self.reader.scale

    @property
    def movers(self) -> tuple[Mover, ...]:
        """Movers of the body."""
        return self.reader.movers

    def matrix(self, armature: bpy.types.Object, name: str, who: bone_transforms.Carrier) -> np.ndarray:
        """From the space of a bone's head to the world (4, 4), Blender units."""
        obj, _ = self.reader.carried[who]
        world = bone_core.armature_matrix(obj, armature)
        return world @ np.array(armature.data.bones[name].matrix_local)

    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """Heads and tails of the movers' bones (b, 3), metres; coincident for movers without a bone."""
        heads, tails = np.zeros((2, len(self.movers), 3))
        for row, mover in enumerate(self.movers):
            if mover.armature is not None:
                matrix = self.matrix(mover.armature, mover.bone, mover.carrier)
                length = mover.armature.data.bones[mover.bone].length
                heads[row] = matrix[:3, 3] * self.unit
                tails[row] = (matrix @ (0.0, length, 0.0, 1.0))[:3] * self.unit
        return heads, tails

    def spans(self) -> tuple[np.ndarray, np.ndarray]:
        """Starts and ends of the movers' bones (b, 3), metres; coincident for movers without a bone.

        A bone ends in the centre of its deforming children's heads, since tails from importers often point
        elsewhere; without children, and among children around its head, in its tail.
        """
        heads, ends = self.ends()
        for row, mover in enumerate(self.movers):
            bones = () if mover.armature is None else mover.armature.data.bones[mover.bone].children
            begin = [
                self.matrix(mover.armature, bone.name, mover.carrier)[:3, 3]
                for bone in bones
                if bone.use_deform
            ]
            if begin:
                far = np.array(begin) * self.unit - heads[row]
                middle = far.mean(axis=0)
                if np.linalg.norm(middle) > AROUND * np.linalg.norm(far, axis=1).max():
                    ends[row] = heads[row] + middle
        return heads, ends

    def row_above(self, obj: bpy.types.Object) -> int | None:
        """The bone of an object, or the nearest ancestor with flesh; None for none."""
        if obj.parent_type != "BONE" or obj.parent is None or obj.parent.type != "ARMATURE":
            return None
        bone = obj.parent.data.bones.get(obj.parent_bone)
        names = [] if bone is None else [bone.name, *(other.name for other in bone.parent_recursive)]
        for name in names:
            for row, mover in enumerate(self.movers):
                if mover.armature == obj.parent and mover.bone == name:
                    return row
        return None


def sparing(solid: Solid, obj: bpy.types.Object, rig: RestRig, surface: Surface) -> Solid:
    """A collider without contact with the flesh inside at rest, and with the flesh of its own bone."""
    row = rig.row_above(obj)
    if row is None or obj.constraints or bone_transforms.is_animated(obj):
        return solid
    rest = rest_matrix(obj, rig, row)[None]

    def distances(points: np.ndarray) -> np.ndarray:
        (away,) = Colliders((solid,), 0.0).distances(rest, rest, points)
        return away

    away = distances(surface.points)
    if not obj.jounce_of_bone:
        inside = bone_capsules.entered(surface.points, surface.triangles, away, distances)
        return replace(solid, spared=np.union1d(inside, np.flatnonzero(away < 0.0)))
    parents = bone_transforms.bones_above(rig.movers)
    return replace(solid, spared=bone_capsules.spared(surface.weights, parents, row, away))


def sparing_inside(solids: list[Solid], mesh: DeformingMesh, rig: RestRig, surface: Surface) -> list[Solid]:
    """Patches of a mesh on the body's own bones, such as clothes, without contact with the flesh inside."""
    own = [mover for mover in rig.movers if mover.armature is not None and mover.armature == mesh.armature]
    if not own:
        return solids
    stands = np.linalg.pinv(np.array(mesh.armature.matrix_world)) @ np.array(mesh.obj.matrix_world)
    carried, _ = rig.reader.carried[own[0].carrier]
    rest = (bone_core.armature_matrix(carried, mesh.armature) @ stands)[:3] * rig.unit
    matrices = np.repeat(rest[None], len(solids), axis=0)

    def distances(points: np.ndarray) -> np.ndarray:
        return np.min(Colliders(tuple(solids), 0.0).distances(matrices, matrices, points), axis=0)

    away = distances(surface.points)
    inside = bone_capsules.entered(surface.points, surface.triangles, away, distances)
    inside = np.union1d(inside, np.flatnonzero(away < 0.0))
    return [replace(solid, spared=inside) for solid in solids]


def rest_matrix(obj: bpy.types.Object, rig: RestRig, row: int) -> np.ndarray:
    """Place of an object on a bone at the binding, (3, 4), metres."""
    bone = obj.parent.data.bones[obj.parent_bone]
    tail = np.eye(4)
    tail[1, 3] = bone.length
    hung = tail @ np.array(obj.matrix_parent_inverse) @ np.array(obj.matrix_basis)
    return (rig.matrix(obj.parent, bone.name, rig.movers[row].carrier) @ hung)[:3] * rig.unit
