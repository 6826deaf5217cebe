"""Random poses of an armature within its limits, played for a while by an action of their own."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np
from mathutils import Euler

from ...core.bake.training_poses import FREE, Channel, drawn, within
from ..common import compat
from ..keys import animation
from . import clips, file_actions

ROTATIONS = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}
WIDTHS = {"location": 3, "scale": 3, "rotation_quaternion": 4, "rotation_euler": 3, "rotation_axis_angle": 4}


def poses(armature: bpy.types.Object, count: int, seed: int) -> dict[Channel, np.ndarray]:
    """Values (count + 1, w) of the channels of all bones, the first of them at rest.

    Bones with children and without a parent stay at rest: they carry the whole character.
    """
    carried = [bone for bone in armature.pose.bones if bone.parent is not None or not bone.children]
    found = drawn(seen(armature, carried), count, seed)
    for bone in armature.pose.bones:
        for channel in ("location", rotation_of(bone), "scale"):
            rest = at_rest(channel)
            values = found.get((bone.name, channel), np.tile(rest, (count, 1)))
            found[bone.name, channel] = np.concatenate([rest[None], values])
    return found


def rotation_of(bone: bpy.types.PoseBone) -> str:
    """The channel that rotates a bone."""
    return ROTATIONS.get(bone.rotation_mode, "rotation_euler")


def at_rest(channel: str) -> np.ndarray:
    """The value of a channel at rest."""
    if channel == "scale":
        return np.ones(3)
    rest = np.zeros(WIDTHS[channel])
    if channel == "rotation_quaternion":
        rest[0] = 1.0
    elif channel == "rotation_axis_angle":
        rest[2] = 1.0
    return rest


def seen(armature: bpy.types.Object, bones: list[bpy.types.PoseBone]) -> dict[Channel, np.ndarray]:
    """Values (k, w) of the channels of bones in all frames of the file's actions, or within their limits."""
    actions = [(action, file_actions.frames_of(action)) for action in file_actions.of(armature)]
    found: dict[Channel, np.ndarray] = {}
    for bone in bones:
        for channel in ("location", rotation_of(bone), "scale"):
            values = [
                in_action(action, bone.path_from_id(channel), channel, steps) for action, steps in actions
            ]
            known = [each for each in values if each is not None]
            if known:
                found[bone.name, channel] = np.concatenate(known)
    if found:
        return found
    return {(bone.name, rotation_of(bone)): in_limits(bone, number) for number, bone in enumerate(bones)}


def in_action(action: bpy.types.Action, path: str, channel: str, steps: range) -> np.ndarray | None:
    """Values (k, w) of a channel in the frames of an action; None without keys."""
    curves = {c.array_index: c for c in compat.every_fcurve(action) if c.data_path == path}
    if not curves:
        return None
    values = np.tile(at_rest(channel), (len(steps), 1))
    for index, curve in curves.items():
        values[:, index] = [curve.evaluate(step) for step in steps]
    if channel == "rotation_quaternion":
        # Blender takes a quaternion of zeros for no rotation.
        lengths = np.linalg.norm(values, axis=1, keepdims=True)
        values = np.where(lengths > 0.0, values / np.where(lengths > 0.0, lengths, 1.0), at_rest(channel))
    return values


def in_limits(bone: bpy.types.PoseBone, seed: int) -> np.ndarray:
    """Rotations (k, w) of a bone within its limits of inverse kinematics, or within small angles."""
    limits = np.array(
        [
            [getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")]
            if getattr(bone, f"use_ik_limit_{axis}")
            else [-FREE, FREE]
            for axis in "xyz"
        ]
    )
    turns = np.array([Euler(angles).to_quaternion() for angles in within(limits, seed)])
    return clips.as_channel(turns, bone.rotation_mode)[1].astype(float)


@contextmanager
def played(
    armature: bpy.types.Object, values: dict[Channel, np.ndarray], scene: bpy.types.Scene
) -> Iterator[None]:
    """Plays poses in the frames from 0 on; afterwards restores the armature, also after an error."""
    was_animated = armature.animation_data is not None
    action = bpy.data.actions.new(f"{armature.name} Poses")
    with clips.kept_animation(armature, scene):
        data = armature.animation_data
        strips = data.use_nla
        try:
            curves = compat.new_fcurves(action, armature)
            for (bone, channel), own in values.items():
                path = armature.pose.bones[bone].path_from_id(channel)
                for index, column in enumerate(own.T):
                    animation.write_fcurve(curves.new(path, index=index), np.arange(len(own)), column)
            data.use_nla = False
            data.action = action
            compat.use_slot(data, action)
            yield
        finally:
            data.use_nla = strips
            data.action = None
            bpy.data.actions.remove(action)
    if not was_animated:
        armature.animation_data_clear()
