"""Visits frames of a scene without a change to the current frame."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np


@contextmanager
def kept(scene: bpy.types.Scene) -> Iterator[None]:
    """Brings the current frame back at the end."""
    current = (scene.frame_current, scene.frame_subframe)
    try:
        yield
    finally:
        scene.frame_set(current[0], subframe=current[1])


def times(over: range, scene: bpy.types.Scene) -> np.ndarray:
    """Times (f,) f64 for reading animation in some frames of a scene, with time remapping."""
    return np.asarray(over, np.float64) * (scene.render.frame_map_old / scene.render.frame_map_new)


def show_again(scene: bpy.types.Scene) -> None:
    """Evaluates the current frame, or the place between two frames, once more."""
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
