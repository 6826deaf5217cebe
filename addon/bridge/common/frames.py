"""Visits frames of a scene without a change to the current frame."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy


@contextmanager
def kept(scene: bpy.types.Scene) -> Iterator[None]:
    """Brings the current frame back at the end."""
    current = (scene.frame_current, scene.frame_subframe)
    try:
        yield
    finally:
        scene.frame_set(current[0], subframe=current[1])


def show_again(scene: bpy.types.Scene) -> None:
    """Evaluates the current frame, or the place between two frames, once more."""
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)
