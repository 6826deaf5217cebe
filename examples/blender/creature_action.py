"""The demo creature's action: hop, land, twist, stop, settle, in 60 frames that loop."""

from __future__ import annotations

import math
from typing import TypeVar

import bpy
from creature_rig import FOOT_CONTROL, PREFIX, SIDES
from mathutils import Matrix, Quaternion, Vector

FIRST_FRAME, LAST_FRAME, FRAME_RATE = 1, 60, 24

# Frame: hips raised (m), hips forward (m), whole-body lean forward (degrees).
HIPS = {
    1: (0.0, 0.0, 0.0), 5: (-0.06, -0.01, 7.0), 7: (-0.06, -0.01, 7.0), 10: (0.13, -0.02, -7.0),
    13: (0.21, -0.02, -3.0), 16: (0.10, -0.02, 2.0), 18: (-0.03, -0.01, 3.0), 20: (-0.065, 0.0, 6.0),
    24: (-0.01, 0.0, -1.0), 27: (0.0, 0.0, 0.0), 60: (0.0, 0.0, 0.0),
}  # fmt: skip
# Frame: feet raised (m), toes pointed down (degrees).
FEET = {
    1: (0.0, 0.0), 8: (0.0, 0.0), 10: (0.095, 22.0), 13: (0.175, 16.0), 16: (0.085, -6.0), 18: (0.0, 0.0),
    60: (0.0, 0.0),
}  # fmt: skip
# Frame: spine twisted to the creature's left (degrees), head turned on top of it.
TWIST = {
    1: (0.0, 0.0), 26: (0.0, 0.0), 29: (-12.0, -4.0), 34: (42.0, 12.0), 37: (42.0, 16.0), 43: (-32.0, -6.0),
    46: (-32.0, -8.0), 51: (0.0, 0.0), 60: (0.0, 0.0),
}  # fmt: skip
# Frame: arms lifted (degrees).
ARMS = {
    1: 0.0, 5: -14.0, 7: -14.0, 11: 52.0, 14: 56.0, 18: 10.0, 20: -12.0, 25: 0.0, 29: 6.0, 34: 22.0, 43: 22.0,
    51: 0.0, 60: 0.0,
}  # fmt: skip

Key = TypeVar("Key")

UP, FORWARD, LEFT = Vector((0.0, 0.0, 1.0)), Vector((0.0, -1.0, 0.0)), Vector((1.0, 0.0, 0.0))


def animate(armature: bpy.types.Object, rounds: int = 1) -> bpy.types.Action:
    """Key the action onto the armature, some times in turn, and set the scene's range and frame rate."""
    scene = bpy.context.scene
    length = LAST_FRAME - FIRST_FRAME
    scene.frame_start, scene.frame_end = FIRST_FRAME, FIRST_FRAME + rounds * length
    scene.render.fps, scene.render.fps_base = FRAME_RATE, 1.0
    for start in range(0, rounds * length, length):
        _key_round(armature, start)
    action = armature.animation_data.action
    action.name = "Hop and twist"
    return action


def _key_round(armature: bpy.types.Object, start: int) -> None:
    """Key the action once, `start` frames later than the first time."""
    for frame, (height, forward, lean) in moved(HIPS, start):
        _key_location(armature, "Hips", frame, UP * height + FORWARD * forward)
        _key_rotation(armature, "Hips", frame, LEFT, lean)
    for frame, (height, point) in moved(FEET, start):
        for side in SIDES:
            _key_location(armature, side + FOOT_CONTROL, frame, UP * height)
            _key_rotation(armature, side + FOOT_CONTROL, frame, LEFT, point)
    for frame, (spine, head) in moved(TWIST, start):
        for name in ("Spine", "Spine1", "Spine2"):
            _key_rotation(armature, name, frame, UP, spine / 3.0)
        for name in ("Neck", "Head"):
            _key_rotation(armature, name, frame, UP, head / 2.0)
    for frame, lift in moved(ARMS, start):
        for side, sign in SIDES.items():
            _key_rotation(armature, side + "Arm", frame, FORWARD, sign * lift)


def moved(keys: dict[int, Key], start: int) -> list[tuple[int, Key]]:
    """Keys some frames later."""
    return [(frame + start, key) for frame, key in keys.items()]


def _rest(armature: bpy.types.Object, name: str) -> tuple[bpy.types.PoseBone, Matrix]:
    bone = armature.pose.bones[PREFIX + name]
    return bone, bone.bone.matrix_local.to_3x3().inverted()


def _key_location(armature: bpy.types.Object, name: str, frame: int, offset: Vector) -> None:
    bone, to_bone = _rest(armature, name)
    bone.location = to_bone @ offset
    bone.keyframe_insert("location", frame=frame)


def _key_rotation(armature: bpy.types.Object, name: str, frame: int, axis: Vector, degrees: float) -> None:
    bone, to_bone = _rest(armature, name)
    turn = Quaternion(to_bone @ axis, math.radians(degrees))
    bone.rotation_euler = turn.to_euler("XYZ")
    bone.keyframe_insert("rotation_euler", frame=frame)
