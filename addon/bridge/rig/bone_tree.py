"""The tree of the bones that move a body, across the control bones between them."""

from collections.abc import Iterator
from functools import cache

import bpy
import numpy as np

from . import bone_transforms

# Distance of the heads of a control bone and of the deforming bone at its place, as a share of its length,
# and least cosine between the two.
NEAR, ALIKE = 1e-3, 0.999
# Constraints that make a bone follow another one.
FOLLOWING = ("COPY_TRANSFORMS", "COPY_LOCATION", "CHILD_OF")

Rows = dict[bpy.types.PoseBone, int]


def parents(bones: list[bpy.types.PoseBone | None], movers: tuple[bone_transforms.Mover, ...]) -> np.ndarray:
    """The nearest ancestor among the movers, (b,) i64, -1 for none; attached objects are below their bone.

    A control bone between two movers stands for the deforming bone at its place: rigs hang deforming bones on
    controls, and let other deforming bones follow these.
    """
    rows: Rows = {}
    for deforms in (True, False):
        for row, (bone, mover) in enumerate(zip(bones, movers, strict=True)):
            if bone is not None and (mover.armature is not None) is deforms:
                rows.setdefault(bone, row)
    row_of, above = cache(lambda bone: _row_of(bone, rows)), np.full(len(bones), -1)
    # Own ancestors first: what a bone follows is often hung on bones below it.
    for lineage in (_ancestors, _followed):
        for row, bone in enumerate(bones):
            if bone is not None and above[row] == -1:
                found = (row_of(other) for other in lineage(bone))
                known = (other for other in found if other is not None and not _leads(above, other, row))
                above[row] = next(known, -1)
    return above


def _ancestors(bone: bpy.types.PoseBone) -> Iterator[bpy.types.PoseBone]:
    """A bone and its ancestors, the nearest first."""
    yield from (bone, *bone.parent_recursive)


def _followed(bone: bpy.types.PoseBone) -> Iterator[bpy.types.PoseBone]:
    """The targets of a bone's constraints, each with its ancestors."""
    for constraint in bone.constraints:
        follows = constraint.type in FOLLOWING and constraint.target == bone.id_data and not constraint.mute
        if follows and (target := bone.id_data.pose.bones.get(constraint.subtarget)) is not None:
            yield from _ancestors(target)


def _row_of(bone: bpy.types.PoseBone, rows: Rows) -> int | None:
    """Row of a bone, or of the deforming bone that it stands for."""
    return rows[bone] if bone in rows else next((rows[other] for other in rows if _is_at(bone, other)), None)


def _is_at(control: bpy.types.PoseBone, bone: bpy.types.PoseBone) -> bool:
    """True if a bone starts and points at rest as a control bone does."""
    if control.id_data != bone.id_data:
        return False
    apart = (control.bone.head_local - bone.bone.head_local).length
    ways = [(each.bone.tail_local - each.bone.head_local).normalized() for each in (control, bone)]
    return apart < NEAR * control.bone.length and ways[0].dot(ways[1]) > ALIKE


def _leads(above: np.ndarray, row: int, other: int) -> bool:
    """True if a row equals another or is below it."""
    while row not in (-1, other):
        row = above[row]
    return row == other
