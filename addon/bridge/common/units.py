"""Between Blender units and metres. All scale factors of a scene are in this file.

An object's or armature's own scale (the 0.01 of a Mixamo character) is part of its world matrix and needs no
care; what remains is the scene's unit scale: world coordinates times `scale_length` are metres.
"""

import bpy
import numpy as np


def metres_per_unit(scene: bpy.types.Scene) -> float:
    """The length of one Blender unit in metres."""
    return scene.unit_settings.scale_length


def frame_seconds(scene: bpy.types.Scene) -> float:
    """The duration of a frame in seconds."""
    return scene.render.fps_base / scene.render.fps


def world_gravity(scene: bpy.types.Scene) -> np.ndarray:
    """Gravity of the scene, (3,) in m/s^2, without regard to the unit scale; zero if switched off."""
    return np.array(scene.gravity) if scene.use_gravity else np.zeros(3)


def points_in_metres(points: np.ndarray, matrix: np.ndarray, scale: float) -> np.ndarray:
    """Local points (p, 3) in the space of a 4x4 world matrix, in metres."""
    return (points @ matrix[:3, :3].T + matrix[:3, 3]) * scale


def transforms_in_metres(transforms: np.ndarray, scale: float) -> np.ndarray:
    """World transforms (b, 4, 4) as (b, 3, 4) in metres: only the translations have a unit."""
    scaled = transforms[:, :3].copy()
    scaled[:, :, 3] *= scale
    return scaled


def points_in_units(points: np.ndarray, scale: float) -> np.ndarray:
    """World points or offsets (..., 3) given in metres, in Blender units."""
    return points / scale


def transforms_in_units(transforms: np.ndarray, scale: float) -> np.ndarray:
    """World transforms (..., 3, 4) given in metres, in Blender units: only the translations have a unit."""
    scaled = transforms.copy()
    scaled[..., 3] /= scale
    return scaled
