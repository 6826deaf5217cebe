"""jounce.bake: computes the motion of a body over some frames and writes it where it plays by itself."""

from collections.abc import Generator
from contextlib import closing

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ..bridge import bakes, bodies, drives, frames, motions, preview, renders
from ..bridge.bodies import BodyScene
from ..bridge.deformers import Warn
from ..bridge.posed import PosedShapes
from ..core import bodies as built
from ..core.motion import Motion
from ..core.prepared import Prepared
from ..core.refusal import Refusal
from ..core.rest_check import is_crumpled
from ..core.settings import BakeSettings
from ..core.task import Step, Task, scaled
from ..props.bake import TARGETS
from . import build
from .operator import LongOperator


class JOUNCE_OT_bake(LongOperator):
    """Bake the motion of the selected bodies to what plays without Jounce"""

    bl_idname = "jounce.bake"
    bl_label = "Bake"
    bl_options = {"UNDO"}

    target: EnumProperty(name="Bake To", description="What the motion is baked to", items=TARGETS)
    frame_start: IntProperty(
        name="Start Frame", description="First baked frame; the scene's own if not given"
    )
    frame_end: IntProperty(name="End Frame", description="Last baked frame; the scene's own if not given")

    missing: BoolProperty(
        name="Only Missing",
        description="Bake every body of the scene that is built and has no bake, whatever is selected",
        options={"SKIP_SAVE"},
    )

    def task(self, context: bpy.types.Context) -> Task:
        """Bakes one body after the other."""
        hosts = renders.unbaked(context.scene) if self.missing else bodies.hosts(context)
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
    """Bakes one body. All is written at the very end, so that stopping keeps an earlier bake."""
    scene = bodies.read(host, context, warn)
    for obj in scene.objects:
        bakes.refuse_unusable(obj, settings, warn)
    digest = scene.surface.digest(host.jounce.build_settings())
    built_again = ""
    if built.CACHE.get(digest) is None:
        building = built.build(scene.surface, host.jounce.build_settings())
        built_again = yield from scaled(building, 0.0, 0.2)
    body = built.CACHE.get(digest)
    motion = yield from scaled(record(scene, body, context, settings), 0.2, 0.7)
    if is_crumpled(scene.surface, motion.poses[0]):
        warn(f"The rest shape of {host.name} is unlike its posed shape; apply a good pose as rest pose.")
    with preview.paused():
        prepared = yield from scaled(bakes.prepare(scene, body, motion, settings, context), 0.7, 1.0)
    preview.switch_off(host)
    bakes.replace(scene, prepared)
    if digest != host.jounce.built_digest:
        warn(f"{host.name} has changed since it was built, so it was built again.")
        build.remember(host, digest, built_again)
    return conclusion(scene, prepared, settings, warn)


def conclusion(scene: BodyScene, prepared: Prepared, settings: BakeSettings, warn: Warn) -> str:
    """Keeps and tells the error of a finished bake."""
    state = scene.host.jounce
    state.bake_error = prepared.error / scene.surface.diagonal
    state.bake_parts = prepared.parts
    state.bake_range = (settings.frame_start, settings.frame_end)
    if state.bake_error > settings.tolerance:
        warn(f"{scene.host.name}: the most keys were not enough for the tolerance; allow more of them.")
    if not prepared.parts:
        warn(f"{scene.host.name} moves by less than the tolerance, so there is nothing to bake.")
    return f"{scene.host.name}: {prepared.parts}, error {state.bake_error:.3%} of the rest diagonal"


def record(
    scene: BodyScene, body: "built.jounce.Body", context: bpy.types.Context, settings: BakeSettings
) -> Generator[Step, None, Motion]:
    """Reads what drives each frame and simulates what is not cached; the current frame stays."""
    blender_scene = context.scene
    made = motions.Motions(body, scene)
    filling = made.filling(blender_scene, made.cache(blender_scene, settings.frame_start))
    shapes = PosedShapes(body, scene, blender_scene, context.view_layer)
    with preview.paused(), frames.kept(blender_scene), closing(filling), shapes:
        for index, frame in enumerate(settings.frames):
            blender_scene.frame_set(frame)
            filling.feed(drives.read(scene, context.evaluated_depsgraph_get(), shapes))
            yield Step(index / len(settings.frames), f"Frame {frame}")
        return filling.motion()
