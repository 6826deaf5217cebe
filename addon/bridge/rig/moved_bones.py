"""Bones of an armature with motion of their own."""

import re
from collections.abc import Iterable, Iterator

import bpy
import numpy as np

from ..common import compat
from ..keys import animation

CHANNEL = re.compile(r'pose\.bones\["(.*)"\]\.(location|rotation_\w+|scale)')
# Importers key every bone; relative differences below this count as none.
STILL = 1e-4


def names(armatures: Iterable[bpy.types.Object]) -> set[str]:
    """The names of bones moved by keys, drivers or constraints; constant keys do not count."""
    return {name for armature in armatures for name in of_armature(armature)}


def of_armature(armature: bpy.types.Object) -> Iterator[str]:
    """The same for one armature, possibly repeated."""
    data = armature.animation_data
    curves = [curve for owner in animation.heard(data) for curve in compat.fcurves(owner) if changes(curve)]
    drivers = () if data is None else data.drivers
    found = (CHANNEL.fullmatch(curve.data_path) for curve in (*curves, *drivers))
    yield from (bpy.utils.unescape_identifier(path[1]) for path in found if path)
    for bone in armature.pose.bones:
        if any(not constraint.mute and constraint.influence > 0.0 for constraint in bone.constraints):
            yield bone.name


def changes(curve: bpy.types.FCurve) -> bool:
    """True if an F-curve has different values in different frames."""
    points = np.empty(2 * len(curve.keyframe_points), np.float32)
    curve.keyframe_points.foreach_get("co", points)
    values = points[1::2]
    return len(curve.modifiers) > 0 or (len(values) > 1 and np.ptp(values) > STILL * np.abs(values).max())
