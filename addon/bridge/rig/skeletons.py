"""The rig of a body as plain bones in the world: names, hierarchy and rest positions."""

import bpy
import numpy as np

from ...core.bake.helper_bones import LENGTH, Skeleton
from . import bone_transforms


def skeleton(reader: bone_transforms.PoseReader, depsgraph: bpy.types.Depsgraph, size: float) -> Skeleton:
    """One bone for each transform of a rig, at rest in the binding. size: of the body, metres.

    The parent is the nearest ancestor that also moves the body.
    """
    names, rests, lengths = [], [], []
    for mover in reader.movers:
        obj, unbind = reader.carried[mover.carrier]
        bind = np.linalg.inv(unbind)
        if mover.armature is None:
            names.append(mover.carrier[-1])
            rests.append(unit_axes(bind))
            lengths.append(LENGTH * size)
            continue
        # Place of the armature at the binding, relative to the mesh.
        world = bind @ bone_transforms.posable(obj, depsgraph)[1]
        world = world @ bone_transforms.world_matrix(mover.armature, depsgraph)
        bone = mover.armature.data.bones[mover.bone]
        names.append(mover.bone)
        rests.append(unit_axes(world @ np.array(bone.matrix_local)))
        lengths.append(bone.length * np.cbrt(abs(np.linalg.det(world[:3, :3]))) * reader.scale)
    placed = np.array(rests)
    placed[:, :3, 3] *= reader.scale
    return Skeleton(tuple(names), bone_transforms.bones_above(reader.movers), placed, np.array(lengths))


def unit_axes(matrix: np.ndarray) -> np.ndarray:
    """The location and rotation (4, 4) of a matrix, without its scale."""
    left, _, right = np.linalg.svd(matrix[:3, :3])
    result = np.eye(4)
    result[:3, :3] = left @ right
    result[:3, :3] *= np.sign(np.linalg.det(result[:3, :3]))
    result[:3, 3] = matrix[:3, 3]
    return result
