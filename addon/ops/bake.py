"""jounce.bake: computes the motion of a body over a range of frames and writes it as shape keys."""

from collections.abc import Generator

import bpy
from bpy.props import EnumProperty, IntProperty

from ..bridge import animation, bodies, shape_keys, units
from ..bridge.bodies import BodyScene
from ..bridge.deformers import Warn
from ..core import bodies as built
from ..core.keys import KeySet, key_sets
from ..core.motion import Motion, Recorder, scaled_gravity
from ..core.refusal import Refusal
from ..core.settings import BakeSettings
from ..core.task import Step, Task, scaled
from ..props import TARGETS
from .operator import LongOperator


class JOUNCE_OT_bake(LongOperator):
    """Bake the motion of the selected bodies to shape keys that play without Jounce"""

    bl_idname = "jounce.bake"
    bl_label = "Bake"
    bl_options = {"UNDO"}

    target: EnumProperty(name="Bake To", description="What the motion is baked to", items=TARGETS)
    frame_start: IntProperty(
        name="Start Frame", description="First baked frame; the scene's own if not given"
    )
    frame_end: IntProperty(name="End Frame", description="Last baked frame; the scene's own if not given")

    def task(self, context: bpy.types.Context) -> Task:
        """Bakes one body after the other."""
        hosts = bodies.hosts(context)
        messages = []
        for index, host in enumerate(hosts):
            part = bake_body(host, context, self.settings(host, context), self.warn)
            messages.append((yield from scaled(part, index / len(hosts), (index + 1) / len(hosts))))
        return "; ".join(messages)

    def settings(self, host: bpy.types.Object, context: bpy.types.Context) -> BakeSettings:
        """The host's settings, where the call does not say otherwise."""
        given = self.properties.is_property_set
        start = self.frame_start if given("frame_start") else context.scene.frame_start
        end = self.frame_end if given("frame_end") else context.scene.frame_end
        if end < start:
            raise Refusal(f"The bake ends at frame {end}, before it starts at frame {start}.")
        return host.jounce.bake_settings(self.target if given("target") else host.jounce.target, start, end)


def bake_body(host: bpy.types.Object, context: bpy.types.Context, settings: BakeSettings, warn: Warn) -> Task:
    """Bakes one body. An earlier bake is replaced at the very end, so that stopping keeps it."""
    scene = bodies.read(host, context, warn)
    for obj in scene.objects:
        animation.refuse_unusable(obj)
    yield from scaled(ensure_built(scene, warn), 0.0, 0.2)
    body = built.CACHE.get(host.jounce.built_digest)
    motion = yield from record(scene, body, context, settings)
    sets = yield from key_sets(body, scene.surface, motion, settings)
    write(scene, sets, settings)
    host.jounce.bake_error = max(keys.error for keys in sets) / scene.surface.diagonal
    if host.jounce.bake_error > settings.tolerance:
        warn(f"{host.name}: the largest number of keys was not enough for the tolerance; allow more keys.")
    count = sum(len(keys.names) for keys in sets)
    return f"{host.name}: {count} shape keys, error {host.jounce.bake_error:.3%} of the rest diagonal"


def ensure_built(scene: BodyScene, warn: Warn) -> Task:
    """Builds the model where it is not in memory, as after opening the file, or has become stale."""
    state = scene.host.jounce
    digest = scene.surface.digest(state.build_settings())
    if built.CACHE.get(digest) is None:
        summary = yield from built.build(scene.surface, state.build_settings())
        if digest != state.built_digest:
            warn(f"{scene.host.name} has changed since it was built, so it was built again.")
            state.built_summary = summary
    state.built_digest = digest
    return state.built_summary


def record(
    scene: BodyScene, body: "built.jounce.Body", context: bpy.types.Context, settings: BakeSettings
) -> Generator[Step, None, Motion]:
    """Reads the evaluated pose of each frame and steps the simulation; the current frame stays."""
    blender_scene = context.scene
    state = scene.host.jounce.motion_settings()
    gravity = scaled_gravity(units.world_gravity(blender_scene), state.gravity, scene.surface.diagonal)
    recorder = Recorder(body, state, units.frame_seconds(blender_scene), gravity)
    current = (blender_scene.frame_current, blender_scene.frame_subframe)
    try:
        for index, frame in enumerate(settings.frames):
            blender_scene.frame_set(frame)
            pose = scene.reader.read(context.evaluated_depsgraph_get())
            if index == 0:
                recorder.start(pose, settings.pre_roll)
            else:
                recorder.step(pose)
            yield Step(index / len(settings.frames), f"Frame {frame}")
    finally:
        blender_scene.frame_set(current[0], subframe=current[1])
    return recorder.motion()


def write(scene: BodyScene, sets: list[KeySet], settings: BakeSettings) -> None:
    """Replaces the body's bake; where writing fails, no part of the bake is left."""
    try:
        for obj, keys in zip(scene.objects, sets, strict=True):
            shape_keys.free(obj)
            shape_keys.write(obj, keys, settings.frames)
    except BaseException:
        for obj in scene.objects:
            shape_keys.free(obj)
        raise
