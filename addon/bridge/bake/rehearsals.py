"""Final motions of a body beside those of its preview: nothing is kept with the file."""

from collections.abc import Generator

import bpy
import numpy as np

from ...core.body import built_bodies
from ...core.body.full_space import FineBody, prepared, shaped
from ...core.common.task import Step, scaled
from ...core.common.user_error import UserError
from ...core.flesh.settings import MotionSettings, Quality
from ...core.stepping.motion import FrameInput, Motion
from ..body import bodies
from ..motions.motions import Motions
from ..preview import frame_readings
from ..rig.armature_modifier import Warn


def opened(host: bpy.types.Object, context: bpy.types.Context, warn: Warn) -> Generator[Step, None, Motions]:
    """A body as built; refuses one that has changed since."""
    scene = bodies.read(host, context, warn)
    settings = host.jounce.build_settings()
    digest = scene.surface.digest(settings)
    if host.jounce.built_digest != digest:
        raise UserError(f"{host.name} has changed since it was built; use Build first.")
    if built_bodies.CACHE.get(digest) is None:
        yield from built_bodies.build(scene.surface, settings)
    return Motions(built_bodies.CACHE.get(digest), scene)


def driven(
    made: Motions, steps: range, context: bpy.types.Context
) -> Generator[Step, None, list[FrameInput]]:
    """The drives of a body over some frames; refuses frames that flesh cannot follow."""
    drives = yield from frame_readings.of_body(made, steps, context)
    held = next((drive.held for drive in drives if drive.held), "")
    if held:
        raise UserError(f"{made.scene.host.name} cannot be exported: {held}.")
    return drives


def fine(made: Motions) -> Generator[Step, None, FineBody | None]:
    """The body in the full space; None for one that stays a draft."""
    host = made.scene.host
    if host.jounce.simulated_quality is Quality.DRAFT:
        return None
    return (yield from prepared(made.body, host.jounce.built_digest, host.jounce.flesh(), made.scene.muscles))


def simulated(
    made: Motions,
    full: FineBody | None,
    drives: list[FrameInput],
    settings: MotionSettings,
    scene: bpy.types.Scene,
) -> Generator[Step, None, tuple[Motion, np.ndarray]]:
    """The motion of drives, and the displacements (f, p, 3) f32 of the surface, in metres."""
    filling = made.rehearsal(scene, settings, model=None if full is None else full.model)
    try:
        for drive in drives:
            filling.feed(drive)
        yield from scaled(filling.caught_up(), 0.0, 0.9)
        motion = filling.motion()
    finally:
        filling.close()
    moved = np.empty((len(drives), len(made.scene.surface.points), 3), np.float32)
    for row, coefficients in enumerate(motion.coefficients):
        moved[row] = shaped(made.body if full is None else full, coefficients)
        yield Step(0.9 + 0.1 * row / len(drives), "Reading the shapes")
    return motion, moved
