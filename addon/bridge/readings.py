"""Reads what drives bodies over a range of frames, in one pass over the scene."""

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack

import bpy
import jounce

from ..core.motion import Drive
from ..core.task import Step
from . import drives, frames, preview
from .bodies import BodyScene
from .posed import PosedShapes

# A body of the scene, what was built of it, and what takes its drives.
Reading = tuple[BodyScene, "jounce.Body", Callable[[Drive], None]]


def over(
    readings: Sequence[Reading], steps: range, context: bpy.types.Context
) -> Generator[Step, None, None]:
    """Gives the drive of each body in each frame away, in order; the current frame stays."""
    scene = context.scene
    with ExitStack() as stack:
        stack.enter_context(preview.paused())
        stack.enter_context(frames.kept(scene))
        fed = []
        for body_scene, body, take in readings:
            shapes = stack.enter_context(PosedShapes(body, body_scene, scene, context.view_layer))
            fed.append((body_scene, shapes, take))
        for index, frame in enumerate(steps):
            scene.frame_set(frame)
            depsgraph = context.evaluated_depsgraph_get()
            for body_scene, shapes, take in fed:
                take(drives.read(body_scene, depsgraph, shapes))
            yield Step(index / len(steps), f"Frame {frame}")
