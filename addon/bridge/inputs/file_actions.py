"""The actions of the file that a character can play, and their playback one by one."""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from ...core.clips import LEAST_MATCHING
from ...core.user_error import UserError
from ..common import animation, compat

BONE = re.compile(r'pose\.bones\["(.*?)"\]')


def of(armature: bpy.types.Object) -> list[bpy.types.Action]:
    """The moving actions for an armature: those of its bones, and those that it plays, by name."""
    own = {owner.action for owner in animation.owners(armature.animation_data)}
    fitting = (action for action in bpy.data.actions if action in own or fits(action, armature))
    return sorted((action for action in fitting if len(frames(action)) > 1), key=lambda action: action.name)


def fits(action: bpy.types.Action, armature: bpy.types.Object) -> bool:
    """True if an armature has most of the bones that an action moves."""
    found = (BONE.match(curve.data_path) for curve in compat.every_fcurve(action))
    moved = {bpy.utils.unescape_identifier(match[1]) for match in found if match}
    return bool(moved) and len(moved & set(armature.data.bones.keys())) >= LEAST_MATCHING * len(moved)


def frames(action: bpy.types.Action) -> range:
    """The whole frames of an action's range."""
    first, last = action.frame_range
    return range(math.floor(first), math.ceil(last) + 1)


def plays_strips(armature: bpy.types.Object) -> bool:
    """True if strips move an armature without any active action."""
    data = armature.animation_data
    return data is not None and any(owner != data for owner in animation.heard(data))


def play(armature: bpy.types.Object, action: bpy.types.Action | None) -> None:
    """Makes an action the active one; None leaves the strips alone."""
    data = armature.animation_data or armature.animation_data_create()
    data.action = action
    if action is not None:
        compat.use_fitting_slot(data)


def refuse_tweaked(armature: bpy.types.Object) -> None:
    """Refuses an armature in whose strips an action is being edited, which allows no other one."""
    data = armature.animation_data
    if data is not None and data.use_tweak_mode:
        raise UserError(f"An NLA strip of {armature.name} is being tweaked; leave Tweak Mode first.")


@contextmanager
def kept(armatures: list[bpy.types.Object], scene: bpy.types.Scene) -> Iterator[None]:
    """Restores the actions of armatures and the frame afterwards, also after an error."""
    frame = scene.frame_current
    before = [armature.animation_data for armature in armatures]
    played = [None if data is None else (data.action, compat.slot(data)) for data in before]
    try:
        yield
    finally:
        for armature, known in zip(armatures, played, strict=True):
            data = armature.animation_data
            if data is not None and known is None:
                armature.animation_data_clear()
            elif data is not None:
                data.action = known[0]
                if known[0] is not None:
                    compat.put_slot(data, known[1])
        scene.frame_set(frame)
