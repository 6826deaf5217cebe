"""Simulates some frames of a body into a file, for a bake from many such files."""

from collections.abc import Generator
from contextlib import ExitStack, closing

import bpy

from ..bridge.bake import shards
from ..bridge.motions import motions
from ..bridge.preview import frame_readings, previews
from ..bridge.rig.armature_modifier import Warn
from ..core.common.task import Step, Task, scaled
from ..core.common.user_error import UserError
from ..core.flesh.settings import BakeSettings
from ..core.passes.simulation_pass import SimulationPass
from ..core.stepping.motion import FrameInput
from ..core.storage.file_lock import FileLock
from ..core.storage.final_cache import FileCache
from .bake import Baking, prepare


def simulate_shard(
    host: bpy.types.Object, context: bpy.types.Context, settings: BakeSettings, lead: int, warn: Warn
) -> Task:
    """Simulates the missing frames of a shard. settings: of the bake of its frames."""
    baking = yield from scaled(prepare(host, context, settings, warn), 0.0, 0.2)
    settings = baking.settings
    made = motions.Motions(baking.body, baking.scene, of_modes=True)
    place = shards.path_of(host, settings)
    lock = FileLock(place.with_suffix(".lock"))
    with ExitStack() as stack:
        stack.callback(lock.free)
        # A scheduler may mistake a working process for lost and give the shard to another.
        yield from scaled(lock.taken(), 0.2, 0.2)
        stack.enter_context(previews.without_finals([host]))
        cache = shards.begun(made, context.scene, settings, lead)
        filling = stack.enter_context(closing(pass_over(baking, made, cache, context)))
        yield from scaled(filled(baking, filling, settings, context), 0.2, 1.0)
        made.show(context.scene, filling, settings.frames)
    if cache.trouble:
        raise UserError(f"The shard of {host.name} is incomplete: {cache.trouble}.")
    if filling.held():
        warn(f"{host.name}: {filling.held()}.")
    first, last = settings.frame_start, settings.frame_end
    return f"{host.name}: frames {first} to {last} in {place}, {filling.simulated} simulated now"


def pass_over(
    baking: Baking, made: motions.Motions, cache: FileCache, context: bpy.types.Context
) -> SimulationPass:
    """The pass that fills a shard."""
    if baking.fine is None:
        return made.filling(context.scene, cache)
    return made.final(context.scene, cache, baking.fine.model)


def filled(
    baking: Baking, filling: SimulationPass, settings: BakeSettings, context: bpy.types.Context
) -> Generator[Step, None, None]:
    """Reads the scene and simulates; each frame is in the file immediately."""

    def feed(drive: FrameInput) -> None:
        filling.feed(drive)
        filling.collect()

    steps = range(filling.cache.first, settings.frame_end + 1)
    yield from scaled(frame_readings.over([(baking.scene, baking.body, feed)], steps, context), 0.0, 0.5)
    yield from scaled(filling.caught_up(), 0.5, 1.0)
