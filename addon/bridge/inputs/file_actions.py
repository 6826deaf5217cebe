"""The actions of the file for a character, and their playback one by one."""

import math
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import bpy

from ...core.common.user_error import UserError
from ...core.rig.clips import LEAST_MATCHING
from ..common import compat, frames
from ..keys import animation

# A path to a custom property: its owner and its name.
CUSTOM = re.compile(r'(.*)\["((?:[^"\\]|\\.)*)"\]')
BONE = re.compile(r'pose\.bones\["(.*?)"\]')


def of(armature: bpy.types.Object) -> list[bpy.types.Action]:
    """The moving actions for an armature, of its bones or in its animation data, by name."""
    own = {owner.action for owner in animation.owners(armature.animation_data)}
    fitting = (action for action in bpy.data.actions if action in own or fits(action, armature))
    return sorted(
        (action for action in fitting if len(frames_of(action)) > 1), key=lambda action: action.name
    )


def fits(action: bpy.types.Action, armature: bpy.types.Object) -> bool:
    """True if an armature has most of the bones that an action moves."""
    found = (BONE.match(curve.data_path) for curve in compat.every_fcurve(action))
    moved = {bpy.utils.unescape_identifier(match[1]) for match in found if match}
    return bool(moved) and len(moved & set(armature.data.bones.keys())) >= LEAST_MATCHING * len(moved)


def frames_of(action: bpy.types.Action) -> range:
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
    """Refuses an armature with an action edited in its strips, since no other action can be set."""
    data = armature.animation_data
    if data is not None and data.use_tweak_mode:
        raise UserError(f"An NLA strip of {armature.name} is being tweaked; leave Tweak Mode first.")


class Values:
    """Present values of the animated properties of an armature.

    A property without keys in an action keeps its value from another action.
    """

    def __init__(self, armature: bpy.types.Object, paths: Iterable[str]) -> None:
        """paths: of the animated properties."""
        self._armature = armature
        self._values = {path: value for path in paths if (value := self._read(path)) is not None}

    def put_back(self) -> None:
        """Sets values that have changed."""
        for path, value in self._values.items():
            now = self._read(path)
            if now is not None and now != value:
                owner, name = parts_of(path)
                holder = self._armature.path_resolve(owner) if owner else self._armature
                if path.endswith("]"):
                    holder[name] = value
                else:
                    setattr(holder, name, value)

    def _read(self, path: str) -> object:
        try:
            found = self._armature.path_resolve(path)
        except ValueError:
            return None
        return tuple(found) if hasattr(found, "__len__") and not isinstance(found, str) else found


def paths_in(actions: Iterable[bpy.types.Action]) -> Iterator[str]:
    """The paths that actions animate."""
    yield from dict.fromkeys(curve.data_path for action in actions for curve in compat.every_fcurve(action))


def parts_of(path: str) -> tuple[str, str]:
    """The path of the owner of a property, and the name of the property, custom ones included."""
    own = CUSTOM.fullmatch(path)
    if own is not None:
        return own[1], bpy.utils.unescape_identifier(own[2])
    owner, _, name = path.rpartition(".")
    return owner, name


@contextmanager
def kept(armatures: list[bpy.types.Object], scene: bpy.types.Scene) -> Iterator[Callable[[], None]]:
    """Restores the actions of armatures, their unkeyed properties, and the frame, also after an error.

    Yields a function to restore the unkeyed properties for the next action.
    """
    before = [armature.animation_data for armature in armatures]
    played = [None if data is None else (data.action, compat.slot(data)) for data in before]
    values = [Values(armature, paths_in(of(armature))) for armature in armatures]

    def put_back() -> None:
        for each in values:
            each.put_back()

    with frames.kept(scene):
        try:
            yield put_back
        finally:
            for armature, known in zip(armatures, played, strict=True):
                data = armature.animation_data
                if data is not None and known is None:
                    armature.animation_data_clear()
                elif data is not None:
                    data.action = known[0]
                    if known[0] is not None:
                        compat.put_slot(data, known[1])
            put_back()
