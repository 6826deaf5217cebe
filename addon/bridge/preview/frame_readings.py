"""Reads the drives of bodies over a range of frames, in one pass over the scene."""

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing

import bpy
import jounce

from ...core.common.task import Step, scaled
from ...core.stepping.motion import FrameInput
from ..body.bodies import BodyScene
from ..common import frames, handlers
from ..inputs import frame_inputs
from ..inputs.posed_meshes import PosedShapes
from ..motions import scratch_scene
from ..motions.motions import Motions
from . import previews

# A body in the scene, the built body, and the receiver of drives.
Reading = tuple[BodyScene, "jounce.Body", Callable[[FrameInput], None]]
Drives = Generator[Step, None, list[FrameInput]]

# Number of intervals between frames at which a stage is compared with the scene; the second with handlers of
# other add-ons.
COMPARED, COMPARED_AMONG_OTHERS = 2, 6


def of_body(made: Motions, steps: range, context: bpy.types.Context) -> Drives:
    """The drives of one body over some frames.

    From a stage, without evaluating meshes, if the stage agrees with the scene at some of the frames.
    """
    # Handlers of other add-ons act on the artist's scene alone.
    parts = COMPARED_AMONG_OTHERS if handlers.foreign() else COMPARED
    compared = steps[:: max(1, (len(steps) - 1) // parts)]
    seen = yield from scaled(in_scene(made, compared, context), 0.0, 0.1)
    if not scratch_scene.unsound(made.scene, context.scene):
        staged = yield from scaled(on_stage(made, steps, context), 0.1, 1.0)
        if all(staged[steps.index(frame)].agrees(one) for frame, one in zip(compared, seen, strict=True)):
            return staged
    return (yield from scaled(in_scene(made, steps, context), 0.1, 1.0))


def on_stage(made: Motions, steps: range, context: bpy.types.Context) -> Drives:
    """The drives of one body over some frames, from a separate scene."""
    read: list[FrameInput] = []
    with previews.paused(), closing(scratch_scene.Stage(made, context.scene)) as beside:
        for frame in steps:
            read.append(beside.drive(frame))
            yield Step(len(read) / len(steps), f"Frame {frame}")
    return read


def in_scene(made: Motions, steps: range, context: bpy.types.Context) -> Drives:
    """The drives of one body over some frames, from the artist's scene."""
    read: list[FrameInput] = []
    yield from over([(made.scene, made.body, read.append)], steps, context)
    return read


def over(
    readings: Sequence[Reading], steps: range, context: bpy.types.Context
) -> Generator[Step, None, None]:
    """Gives the drive of each body in each frame away, in order; the current frame stays."""
    scene = context.scene
    with ExitStack() as stack:
        stack.enter_context(previews.paused())
        stack.enter_context(frames.kept(scene))
        fed = []
        for body_scene, body, take in readings:
            shapes = stack.enter_context(PosedShapes(body, body_scene, scene, context.view_layer))
            fed.append((body_scene, shapes, take))
        for index, frame in enumerate(steps):
            scene.frame_set(frame)
            depsgraph = context.evaluated_depsgraph_get()
            for body_scene, shapes, take in fed:
                take(frame_inputs.read(body_scene, depsgraph, shapes))
            yield Step(index / len(steps), f"Frame {frame}")
