"""The rig of a body: the transforms of its vertices, their weights, and their values in the scene.

A bone j of armature `arm` moves the vertices of an object `obj` by T_j(t) = M_arm(t) P_j(t) R_j^-1
M_arm(t)^-1 M_obj(t) M_obj(bind)^-1, X = M_obj(bind) X_local, with P_j the evaluated pose matrix, R_j the rest
matrix, both in armature space: the effect of the Armature modifier in world space. Vertices without a bone
follow their object: T = M_obj(t) M_obj(bind)^-1. Therefore T_j depends on the motion of the object itself.
Meshes with the same motion (for instance all children of one armature) share their bones; other meshes have
their own copies. `carrier` identifies the motion of a mesh.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

import bpy
import numpy as np

from ...core.common.user_error import UserError
from ...core.rig.weights import skinned
from ..common import compat, units
from .armature_modifier import Deformer, Warn

Carrier = tuple[str, ...]

# Largest distance of movers relative to the body's size, and largest scale.
FAR = 1e6


@dataclass(frozen=True)
class Mover:
    """One transform of the rig: a bone of an armature, or for armature None the object alone."""

    carrier: Carrier
    armature: bpy.types.Object | None = None
    bone: str = ""


@dataclass(frozen=True)
class PartRig:
    """Rig of one mesh: movers and their weights (p, b), rows summing to one."""

    movers: tuple[Mover, ...]
    weights: np.ndarray


def carrier(obj: bpy.types.Object) -> Carrier:
    """Who moves an object: two objects with equal carriers move alike."""
    moves_itself = len(obj.constraints) > 0 or is_animated(obj)
    if moves_itself or obj.parent_type.startswith("VERTEX"):
        return ("object", obj.name)
    if obj.parent is None:
        return ("world",)
    if obj.parent_type == "BONE":
        return ("bone", obj.parent.name, obj.parent_bone)
    return carrier(obj.parent)


def is_animated(obj: bpy.types.Object) -> bool:
    """True if keyframes, strips or drivers may move the object."""
    data = obj.animation_data
    return data is not None and (data.action is not None or len(data.nla_tracks) > 0 or len(data.drivers) > 0)


def part_rig(obj: bpy.types.Object, deformer: Deformer | None, groups: np.ndarray, warn: Warn) -> PartRig:
    """The movers of a mesh with nonzero weights, and these weights.

    groups: (p, g), the weights of all vertex groups.
    """
    own = Mover(carrier(obj))
    if deformer is None:
        return PartRig((own,), np.ones((len(obj.data.vertices), 1)))
    deforming = {bone.name for bone in deformer.armature.data.bones if bone.use_deform}
    columns = [group.index for group in obj.vertex_groups if group.name in deforming]
    names = [obj.vertex_groups[column].name for column in columns]
    weights = skinned(groups[:, columns], mask_of(obj, deformer, groups))
    movers = [Mover(own.carrier, deformer.armature, name) for name in names] + [own]
    used = np.flatnonzero(weights.any(axis=0))
    if used.tolist() == [len(names)]:
        warn(f"No vertex of {obj.name} has a weight for {deformer.armature.name}; it follows its object.")
    return PartRig(tuple(movers[index] for index in used), weights[:, used])


def mask_of(obj: bpy.types.Object, deformer: Deformer, groups: np.ndarray) -> np.ndarray | None:
    """The modifier's own vertex group (p,), a factor on its effect; None for none."""
    name, inverted = deformer.mask()
    if name not in obj.vertex_groups:
        return None
    mask = groups[:, obj.vertex_groups[name].index]
    return 1.0 - mask if inverted else mask


def joined(parts: list[PartRig]) -> PartRig:
    """One rig for all parts of a body, with concatenated vertices."""
    movers = list(dict.fromkeys(mover for part in parts for mover in part.movers))
    column = {mover: index for index, mover in enumerate(movers)}
    weights = np.zeros((sum(len(part.weights) for part in parts), len(movers)))
    start = 0
    for part in parts:
        end = start + len(part.weights)
        weights[start:end, [column[mover] for mover in part.movers]] = part.weights
        start = end
    return PartRig(tuple(movers), weights)


def bones_above(movers: tuple[Mover, ...]) -> np.ndarray:
    """The nearest ancestor of each mover's bone among the movers, (b,) i64; -1 for none."""
    rows = {mover: row for row, mover in enumerate(movers)}
    above = np.full(len(movers), -1)
    for row, mover in enumerate(movers):
        if mover.armature is None:
            continue
        for bone in mover.armature.data.bones[mover.bone].parent_recursive:
            found = rows.get(Mover(mover.carrier, mover.armature, bone.name))
            if found is not None:
                above[row] = found
                break
    return above


def in_collection(movers: tuple[Mover, ...], name: str) -> np.ndarray:
    """Movers with a bone in a bone collection of this name, or in one inside, (b,) bool."""
    armatures = {mover.armature.data for mover in movers if mover.armature is not None}
    found = [data.collections_all[name] for data in armatures if name in data.collections_all]
    if not found:
        raise UserError(
            f"No armature of the body has a bone collection named {name!r}; choose an existing one."
        )
    bones = {(collection.id_data, bone.name) for collection in found for bone in collection.bones_recursive}
    return np.array(
        [mover.armature is not None and (mover.armature.data, mover.bone) in bones for mover in movers]
    )


def leaks(movers: tuple[Mover, ...]) -> np.ndarray:
    """Momentum leak of each mover into its flesh, (b,) in [0, 1]."""
    bones = (mover.armature and mover.armature.pose.bones[mover.bone] for mover in movers)
    return np.array([1.0 if bone is None else bone.jounce_leak for bone in bones])


def chosen_bones(armature: bpy.types.Object, collection: str) -> list[bpy.types.PoseBone]:
    """The deforming bones in a bone collection or inside; without a collection, the selected ones."""
    if collection:
        found = armature.data.collections_all.get(collection)
        names = set() if found is None else {bone.name for bone in found.bones_recursive}
    else:
        names = compat.selected_bones(armature)
    return [bone for bone in armature.pose.bones if bone.name in names and bone.bone.use_deform]


@contextmanager
def rest_position(objects: Iterable[bpy.types.Object], view_layer: bpy.types.ViewLayer) -> Iterator[None]:
    """Sets the armatures above these objects to rest position, which restores attached objects to their
    original places.
    """
    before = {armature.data: armature.data.pose_position for armature in armatures_above(objects)}
    try:
        for data in before:
            data.pose_position = "REST"
        view_layer.update()
        yield
    finally:
        for data, position in before.items():
            data.pose_position = position
        view_layer.update()


def armatures_above(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """The armatures among the ancestors of these objects, each once."""
    above = dict.fromkeys(ancestor for obj in objects for ancestor in ancestors(obj))
    return [obj for obj in above if obj.type == "ARMATURE"]


def ancestors(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """Parents of an object and targets of its constraints, recursively, each once."""
    seen: set[bpy.types.Object] = set()
    waiting = [obj]
    while waiting:
        current = waiting.pop()
        targets = [getattr(constraint, "target", None) for constraint in current.constraints]
        for above in (current.parent, *targets):
            if above is not None and above not in seen:
                seen.add(above)
                waiting.append(above)
                yield above


def apart(armatures: list[bpy.types.Object]) -> list[list[bpy.types.Object]]:
    """Independent groups of armatures: none follows one of another group."""
    groups: list[list[bpy.types.Object]] = []
    for armature in armatures:
        kin = [group for group in groups if any(follow(armature, other) for other in group)]
        groups = [group for group in groups if group not in kin]
        groups.append([*(other for group in kin for other in group), armature])
    return groups


def follow(one: bpy.types.Object, other: bpy.types.Object) -> bool:
    """True if one of two armatures follows the other by a parent or a constraint, on the object or
    on a bone.
    """
    for follower, followed in ((one, other), (other, one)):
        constraints = (constraint for bone in follower.pose.bones for constraint in bone.constraints)
        targets = (getattr(constraint, "target", None) for constraint in constraints)
        if followed in ancestors(follower) or followed in targets:
            return True
    return False


class Unposable(UserError):
    """Raised for a frame in which flesh cannot follow the rig."""


class PoseReader:
    """Reads the transforms of a body's rig from the evaluated scene, frame by frame."""

    def __init__(
        self,
        movers: tuple[Mover, ...],
        carried: dict[Carrier, tuple[bpy.types.Object, np.ndarray]],
        scale: float,
        size: float,
    ) -> None:
        """carried: for each carrier one object and its bind matrix (4, 4).

        scale: metres per unit. size: of the body, in metres.
        """
        self.scale = scale
        self.size = size
        self.movers = movers
        self.carried = {who: (obj, np.linalg.inv(bind)) for who, (obj, bind) in carried.items()}
        self._rows: dict[tuple[bpy.types.Object | None, Carrier], list[int]] = {}
        for row, mover in enumerate(movers):
            self._rows.setdefault((mover.armature, mover.carrier), []).append(row)
        self._bones = {
            key: BoneReader(key[0], [movers[row].bone for row in rows])
            for key, rows in self._rows.items()
            if key[0] is not None
        }

    def has_its_bones(self) -> bool:
        """True if all armatures have the bones of the reading."""
        return all(bones.has_its_bones() for bones in self._bones.values())

    @property
    def armatures(self) -> list[bpy.types.Object]:
        """The armatures with bones that move the body, each once."""
        return list(dict.fromkeys(armature for armature, _ in self._bones))

    def read(self, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
        """T (b, 3, 4) f64 in world space and metres."""
        transforms = np.empty((len(self.movers), 4, 4))
        for (armature, who), rows in self._rows.items():
            obj, unbind = self.carried[who]
            world, away = (np.eye(4), np.eye(4)) if armature is None else posable(armature, depsgraph)
            moved = posable(obj, depsgraph)[0] @ unbind
            if armature is None:
                transforms[rows] = moved
            else:
                local = self._bones[armature, who].read(depsgraph)
                transforms[rows] = world @ local @ away @ moved
        transforms = units.transforms_in_metres(transforms, self.scale)
        self._refuse_boundless(transforms)
        return transforms

    def _refuse_boundless(self, transforms: np.ndarray) -> None:
        """Refuses transforms (b, 3, 4) that are not finite, or implausibly large."""
        bounds = np.full((3, 4), FAR)
        bounds[:, 3] *= self.size
        fine = (np.abs(transforms) <= bounds).all(axis=(1, 2))
        if not fine.all():
            mover = self.movers[int(np.argmin(fine))]
            name = self.carried[mover.carrier][0].name
            name = name if mover.armature is None else f"the bone {mover.bone} of {mover.armature.name}"
            raise Unposable(f"{name} has an impossible transform; look at its keys, constraints and drivers")


def posable(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[np.ndarray, np.ndarray]:
    """World matrix (4, 4) f64 of an evaluated object and its inverse; refused without an inverse."""
    matrix = world_matrix(obj, depsgraph)
    if not np.isfinite(matrix).all():
        raise Unposable(f"{obj.name} is at no finite place; look at its keys, constraints and drivers")
    inverse = _inverse(matrix.tobytes())
    if inverse is None:
        raise Unposable(f"{obj.name} is scaled to nothing; to hide it, animate its visibility")
    return matrix, inverse


# Most objects stand still; numpy's threads, once woken to invert, would go on spinning beside the simulation.
@lru_cache(maxsize=64)
def _inverse(matrix: bytes) -> np.ndarray | None:
    """The inverse (4, 4) of a matrix by its bytes, None for a singular matrix."""
    placed = np.frombuffer(matrix).reshape(4, 4)
    if np.linalg.matrix_rank(placed[:3, :3]) < 3:
        return None
    inverse = np.linalg.inv(placed)
    inverse.flags.writeable = False
    return inverse


def world_matrix(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
    """World matrix (4, 4) f64 of an object in the evaluated scene."""
    # Blender 5.1 and newer give single precision, which is too coarse for inverses.
    return np.array(obj.evaluated_get(depsgraph).matrix_world, dtype=np.float64)


class BoneReader:
    """Reads P_j R_j^-1 of some bones of an armature."""

    def __init__(self, armature: bpy.types.Object, names: list[str]) -> None:
        self._armature = armature
        self._names = names
        self._rows = [armature.pose.bones.find(name) for name in names]
        rest = [armature.data.bones[name].matrix_local for name in names]
        self._unrest = np.linalg.inv(np.array(rest, dtype=np.float64))

    def has_its_bones(self) -> bool:
        """True if the armature has the same bones in the same order."""
        bones = self._armature.pose.bones
        places = zip(self._rows, self._names, strict=True)
        return all(row < len(bones) and bones[row].name == name for row, name in places)

    def read(self, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
        """P_j R_j^-1 (b, 4, 4) f64 in armature space."""
        bones = self._armature.evaluated_get(depsgraph).pose.bones
        # Bulk reading is about fifty times faster than a loop; each matrix is column-major.
        flat = np.empty(16 * len(bones), np.float32)
        bones.foreach_get("matrix", flat)
        columns = flat.reshape(-1, 4, 4)[self._rows].astype(np.float64)
        return columns.transpose(0, 2, 1) @ self._unrest
