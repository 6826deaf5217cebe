"""A wind with gusts for a scene: a wind field, and a turbulence that travels with it."""

import math

import bpy
import numpy as np

from ..common import compat, units

# Mean acceleration in m/s^2 of a body of 1.8 m, and largest deviation of its gusts as a share of it.
STRENGTH, GUSTS = 10.0, 0.8
# Duration of a gust, seconds.
DURATION = 1.2
# Strength of the turbulence, m/s^2, its size and its way in a second, as multiples of a body's diagonal.
SWIRLS, SIZE, SPEED = 20.0, 0.7, 1.4


def add(scene: bpy.types.Scene, center: np.ndarray, diagonal: float) -> bpy.types.Object:
    """Adds a wind along the world's X, which turns with its object.

    center (3,) and diagonal: of a body, metres.
    """
    unit = units.metres_per_unit(scene)
    size, frames = diagonal / unit, DURATION / units.frame_seconds(scene)
    wind, swirls = made("Wind", "WIND", scene), made("Gusts", "TURBULENCE", scene)
    wind.rotation_euler = (0.0, 0.5 * math.pi, 0.0)
    wind.location = (center / unit - (size, 0.0, 0.0)).tolist()
    wind.empty_display_size = 0.3 * size
    wind.field.strength = STRENGTH
    curves = compat.new_fcurves(action(wind), wind)
    gusts = curves.new("field.strength")
    gusts.keyframe_points.insert(scene.frame_start, STRENGTH)
    noise = gusts.modifiers.new("NOISE")
    noise.scale, noise.strength, noise.depth = frames, 2.0 * GUSTS * STRENGTH, 1
    swirls.parent = wind
    swirls.empty_display_size = 0.1 * size
    swirls.field.strength, swirls.field.size = SWIRLS, SIZE * size
    way = compat.new_fcurves(action(swirls), swirls).new("location", index=2)
    straight = way.modifiers.new("GENERATOR")
    straight.coefficients = (0.0, SPEED * size * units.frame_seconds(scene))
    compat.use_slot(wind.animation_data, wind.animation_data.action)
    compat.use_slot(swirls.animation_data, swirls.animation_data.action)
    return wind


def made(name: str, kind: str, scene: bpy.types.Scene) -> bpy.types.Object:
    """A force field of a kind in a scene."""
    obj = bpy.data.objects.new(name, None)
    obj.empty_display_type = "SINGLE_ARROW"
    scene.collection.objects.link(obj)
    with bpy.context.temp_override(object=obj, active_object=obj, selected_objects=[obj]):
        bpy.ops.object.forcefield_toggle()
    obj.field.type = kind
    obj.field.seed = 1
    return obj


def action(obj: bpy.types.Object) -> bpy.types.Action:
    """A new action of an object."""
    found = bpy.data.actions.new(obj.name)
    obj.animation_data_create().action = found
    return found
