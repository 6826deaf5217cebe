"""Transfers the keys of a setting from one object to another."""

from contextlib import ExitStack

import bpy
import numpy as np

from ...core.common.user_error import UserError
from ..common import compat
from . import animation

# Attributes of a key: position and interpolation.
WIDTHS = {"co": 2, "handle_left": 2, "handle_right": 2}
MODES = ("interpolation", "easing", "handle_left_type", "handle_right_type")


def take(
    source: bpy.types.Object, path: str, target: bpy.types.Object, to_path: str, undo: ExitStack
) -> bool:
    """Copies the keys of a path; False if drivers or strips move the path. undo: collects the reversal."""
    data, taken = source.animation_data, animation.paths(target.animation_data)
    moving = animation.paths(data).count(path)
    if moving == 0:
        return True
    curve = active_curve(data, path)
    if moving > 1 or curve is None or not curve.keyframe_points or to_path in taken:
        return False
    copy(curve, new_curve(target, to_path, undo))
    return True


def active_curve(data: bpy.types.AnimData, path: str) -> bpy.types.FCurve | None:
    """The active action's F-curve of a path."""
    curves = () if data.action is None else compat.fcurves(data)
    return next((curve for curve in curves if curve.data_path == path), None)


def new_curve(obj: bpy.types.Object, path: str, undo: ExitStack) -> bpy.types.FCurve:
    """A new F-curve of an object with one key, in the present action or in a new one."""
    data = obj.animation_data
    if data is not None and data.use_tweak_mode:
        raise UserError(f"An NLA strip of {obj.name} is being tweaked; leave Tweak Mode first.")
    if data is None or data.action is None:
        new_action(obj, undo)
    elif not data.action.is_editable:
        raise UserError(
            f"{obj.name} plays the action {data.action.name} of another file, which takes no keys; make it "
            "local first."
        )
    obj.keyframe_insert(path)
    undo.callback(remove_curve, obj, path)
    return active_curve(obj.animation_data, path)


def new_action(obj: bpy.types.Object, undo: ExitStack) -> None:
    """Gives an object an action. Blender would choose the action of the shape keys, such as a bake's."""
    action = bpy.data.actions.new(f"{obj.name}Action")
    undo.callback(bpy.data.actions.remove, action)
    compat.new_fcurves(action, obj)
    if obj.animation_data is None:
        undo.callback(obj.animation_data_clear)
    data = obj.animation_data_create()
    data.action = action
    compat.use_slot(data, action)


def remove_curve(obj: bpy.types.Object, path: str) -> None:
    """Takes an F-curve away."""
    for curves in compat.fcurve_lists(obj.animation_data):
        for curve in [curve for curve in curves if curve.data_path == path]:
            curves.remove(curve)


def copy(source: bpy.types.FCurve, target: bpy.types.FCurve) -> None:
    """Gives an F-curve of one key all keys of another."""
    keys, theirs = target.keyframe_points, source.keyframe_points
    keys.add(len(theirs) - len(keys))
    for name, width in WIDTHS.items():
        values = np.empty(width * len(theirs), np.float32)
        theirs.foreach_get(name, values)
        keys.foreach_set(name, values)
    for key, like in zip(keys, theirs, strict=True):
        for name in MODES:
            setattr(key, name, getattr(like, name))
    target.extrapolation = source.extrapolation
    target.update()
