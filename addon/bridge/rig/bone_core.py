"""Reads the inputs of a body's bone core: rest positions and roles of the bones."""

from collections.abc import Iterable

import bpy
import numpy as np

from ...core.rig import part_settings
from ...core.rig.bone_core import BoneCore, Role, still_bones
from . import bone_transforms, bone_tree, moved_bones
from .armature_modifier import Deformer


def armature_of(obj: bpy.types.Object, deformer: Deformer | None) -> bpy.types.Object | None:
    """The armature that deforms or carries a mesh."""
    if deformer is not None:
        return deformer.armature
    return obj.parent if obj.parent is not None and obj.parent.type == "ARMATURE" else None


def bind(obj: bpy.types.Object, deformer: Deformer | None) -> None:
    """Records the world matrix of a mesh's armature."""
    armature = armature_of(obj, deformer)
    matrix = np.eye(4) if armature is None else np.array(armature.matrix_world)
    obj.jounce.armature_matrix = matrix.ravel()


def armature_matrix(obj: bpy.types.Object, armature: bpy.types.Object) -> np.ndarray:
    """The world matrix (4, 4) f64 of a mesh's armature at the binding."""
    matrix = np.array(obj.jounce.armature_matrix, dtype=np.float64).reshape(4, 4)
    if np.linalg.matrix_rank(matrix) == 4:
        return matrix
    # In bindings from before the bone core, the present place relative to the mesh counts.
    bound = np.array(obj.jounce.bind_matrix, dtype=np.float64).reshape(4, 4)
    stands = np.linalg.inv(np.array(obj.matrix_world, dtype=np.float64))
    return bound @ stands @ np.array(armature.matrix_world)


class Bones:
    """Rest positions and hierarchy of a rig's bones, from their meshes."""

    def __init__(self, scale: float) -> None:
        """scale: metres a unit."""
        self._scale = scale
        self._placed: dict[tuple[str, bone_transforms.Carrier], tuple[bpy.types.Object, np.ndarray]] = {}
        self._joints: dict[str, int] = {}

    def see(self, obj: bpy.types.Object, deformer: Deformer | None) -> None:
        """Adds a mesh and the binding of its armature."""
        armature = armature_of(obj, deformer)
        if armature is not None:
            key, matrix = (armature.name, bone_transforms.carrier(obj)), armature_matrix(obj, armature)
            self._placed.setdefault(key, (armature, matrix))
        if deformer is not None:
            deforming = [bone for bone in deformer.armature.data.bones if bone.use_deform]
            self._joints[deformer.armature.name] = len(deforming)

    def core(
        self,
        movers: tuple[bone_transforms.Mover, ...],
        points: np.ndarray,
        weights: np.ndarray,
        rigid: np.ndarray,
        state: bpy.types.PropertyGroup,
    ) -> BoneCore | None:
        """The core of a rig, None for none. points: (p, 3), metres. weights: (p, b). rigid: (p,) bool.

        state: settings of the body.
        """
        if state.bone_core == 0.0:
            return None
        bones = [self._bone(mover) for mover in movers]
        heads = np.empty((len(movers), 3))
        for row, (bone, matrix) in enumerate(bones):
            if bone is None:
                shares = weights[:, row]
                heads[row] = shares @ points / shares.sum()
            else:
                heads[row] = (matrix @ np.append(np.array(bone.bone.head_local), 1.0))[:3] * self._scale
        above = bone_tree.parents([bone for bone, _ in bones], movers)
        names = tuple("" if bone is None else bone.name for bone, _ in bones)
        return BoneCore(
            heads=heads,
            parents=above,
            names=names,
            roles=self.roles(movers),
            amount=state.bone_core,
            rigid=rigid if rigid.any() else None,
            still=still(above, names, (armature for armature, _ in self._placed.values())),
            anatomy=state.anatomy,
            parts=part_settings.acting(state.part_rows()) if state.anatomy else (),
        )

    def roles(self, movers: tuple[bone_transforms.Mover, ...]) -> tuple[Role, ...]:
        """Roles of the movers' bones."""
        bones = (self._bone(mover)[0] for mover in movers)
        return tuple(Role.AUTOMATIC if bone is None else Role(bone.jounce_role) for bone in bones)

    def joints(self, movers: tuple[bone_transforms.Mover, ...]) -> int:
        """Number of deforming bones, those without weight included; 1 if a role asks for flesh."""
        asked = {Role.FLESH, Role.FREE} & set(self.roles(movers))
        return 1 if asked else sum(self._joints.values())

    def _bone(self, mover: bone_transforms.Mover) -> tuple[bpy.types.PoseBone | None, np.ndarray]:
        """The bone of a mover or its parent bone, and the world matrix of its armature at the binding."""
        carried = mover.carrier[0] == "bone"
        name = mover.armature.name if mover.armature is not None else mover.carrier[1] if carried else ""
        armature, matrix = self._placed.get((name, mover.carrier), (None, np.eye(4)))
        if armature is None:
            return None, matrix
        bone = mover.bone if mover.armature is not None else mover.carrier[2]
        return armature.pose.bones.get(bone), matrix


def still(
    above: np.ndarray, names: tuple[str, ...], armatures: Iterable[bpy.types.Object]
) -> tuple[bool, ...]:
    """Flags of bones without motion of their own, for a request of a core."""
    moved = moved_bones.names(armatures)
    return still_bones(above, np.array([name in moved for name in names]), names)


def is_moved_otherwise(core: BoneCore | None, armatures: Iterable[bpy.types.Object]) -> bool:
    """True if another set of bones is moved than at the reading of a core."""
    return core is not None and core.still != still(core.parents, core.names, armatures)
