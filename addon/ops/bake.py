"""jounce.bake: computes the motion of a body over some frames and writes a bake that plays without Jounce."""

from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace

import bpy
import jounce
import numpy as np
from bpy.props import BoolProperty, EnumProperty, IntProperty

from ..bridge.bake import bakes, kept, measured, renders, shards
from ..bridge.body import bodies, builds, companions, wholeness
from ..bridge.body.bodies import BodyScene
from ..bridge.motions import dented, direction, learnt_preview, motions
from ..bridge.preview import frame_readings, previews
from ..bridge.rig.armature_modifier import Warn
from ..core.bake.prepared import Prepared
from ..core.body import built_bodies
from ..core.body.full_space import FineBody, compared, prepared, refuse_drive
from ..core.common.task import Step, Task, in_turn, scaled
from ..core.common.user_error import UserError
from ..core.flesh.settings import BakeSettings, Quality, Target
from ..core.mesh.rest_check import is_crumpled
from ..core.passes.loop_pass import LoopPass
from ..core.passes.simulation_pass import SimulationPass
from ..core.shot.penetration import deepest
from ..core.stepping.loops import VISIBLE_SEAM
from ..core.stepping.motion import FrameInput, Motion
from ..props.bake import TARGETS, BakeProps
from . import needs
from .operator import LongOperator


class JOUNCE_OT_bake(LongOperator):
    """Bake the motion of the selected bodies; the bake plays and renders without Jounce"""

    bl_idname = "jounce.bake"
    bl_label = "Bake"
    bl_options = {"UNDO"}
    needs = (needs.bodies_to_bake, needs.out_of_edit_mode)

    target: EnumProperty(name="Bake To", description="Storage of the baked motion", items=TARGETS)
    frame_start: IntProperty(
        name="Start Frame", description="First baked frame; the scene's own if not given"
    )
    frame_end: IntProperty(name="End Frame", description="Last baked frame; the scene's own if not given")

    missing: BoolProperty(
        name="Only Missing",
        description="Bake all built bodies of the scene without a bake, selected or not",
        options={"SKIP_SAVE"},
    )

    whole_scene: BoolProperty(
        name="Whole Scene",
        description="Bake all built bodies of the scene, selected or not",
        options={"SKIP_SAVE"},
    )

    def task(self, context: bpy.types.Context) -> Task:
        """Bakes all bodies in one pass over the frames."""
        hosts = self.hosts(context)
        return (yield from bake_bodies([(h, self.settings(h, context)) for h in hosts], context, self.warn))

    def hosts(self, context: bpy.types.Context) -> list[bpy.types.Object]:
        """The hosts of the bodies to bake."""
        if self.whole_scene:
            return renders.built(context.scene)
        return renders.unbaked(context.scene) if self.missing else bodies.dressed(bodies.hosts(context))

    def settings(self, host: bpy.types.Object, context: bpy.types.Context) -> BakeSettings:
        """The host's settings, overridden by the call's arguments."""
        given = self.properties.is_property_set
        start = self.frame_start if given("frame_start") else context.scene.frame_start
        end = self.frame_end if given("frame_end") else context.scene.frame_end
        if end < start:
            raise UserError(f"The bake ends at frame {end}, before it starts at frame {start}.")
        return host.jounce.bake_settings(self.target if given("target") else host.jounce.target, start, end)


@dataclass(frozen=True)
class Baking:
    """A body in the bake. built_again: sentence about a build just made, empty without one.

    fine: body in the full space or the learnt basis; None for a draft.
    """

    scene: BodyScene
    settings: BakeSettings
    body: "jounce.Body"
    digest: str
    built_again: str
    fine: FineBody | None = None

    @property
    def shown(self) -> "jounce.Body | FineBody":
        """Map from the coefficients of the baked motion to shapes."""
        return self.body if self.fine is None else self.fine

    @property
    def is_final(self) -> bool:
        """True for a bake of the full space."""
        return self.settings.quality is Quality.FINAL

    @property
    def tells_draft(self) -> bool:
        """True for a final motion whose draft is of modes, and is compared with it."""
        drafts_vertices = self.scene.host.jounce.drafts_vertices
        return self.is_final and not drafts_vertices(self.settings.quality, len(self.body.mesh.tets))

    def draft(self, made: motions.Motions, scene: bpy.types.Scene) -> SimulationPass:
        """A pass of the modes."""
        if self.fine is None and self.settings.shards:
            motion, remark = shards.joined(made, scene, self.settings)
            return given(made.filling(scene, motion), self.scene.host, remark)
        return made.filling(scene, made.cache(scene, self.settings.frame_start))

    def behind(self, made: motions.Motions, scene: bpy.types.Scene) -> SimulationPass | None:
        """A pass for qualities other than the draft. In the full space the pass continues from kept
        frames.
        """
        if self.fine is None:
            return None
        first, model = self.settings.frame_start, self.fine.model
        if not self.is_final:
            return made.learnt(scene, made.learnt_cache(scene, first), model)
        if self.settings.shards:
            motion, remark = shards.joined(made, scene, self.settings)
            return given(made.final(scene, motion, model), self.scene.host, remark)
        return made.final(scene, made.final_cache(scene, first), model)


def given(filling: SimulationPass, host: bpy.types.Object, remark: str) -> SimulationPass:
    """A pass with all of its frames in the cache."""
    filling.given, filling.remark = host.name, remark
    return filling


@dataclass(frozen=True)
class Recording:
    """A motion. seam: difference between the end and the start of a loop, as a share of the size.

    held: frames with held flesh, and the reason; empty without any. rough: frames that have not converged,
    and the remedy. draft_error: distance of the draft from a final motion. depth: of the deepest place in a
    collider, as a share of the size. around: matrices (c, 3, 4) of the colliders in each row.
    """

    motion: Motion
    seam: float = 0.0
    held: str = ""
    rough: str = ""
    draft_error: float = 0.0
    depth: float = 0.0
    around: list[np.ndarray] = field(default_factory=list)


def bake_body(host: bpy.types.Object, context: bpy.types.Context, settings: BakeSettings, warn: Warn) -> Task:
    """Bakes one body."""
    return bake_bodies([(host, settings)], context, warn)


def bake_bodies(
    asked: list[tuple[bpy.types.Object, BakeSettings]], context: bpy.types.Context, warn: Warn
) -> Task:
    """Bakes bodies over the same frames, with a single evaluation of the scene for all.

    Everything is written at the very end: stopping keeps the earlier state.
    """
    if not asked:
        return "No built body is without a bake; use Build first, or Bake to replace a bake."
    pairs = yield from scaled(recorded(asked, context, warn), 0.0, 0.65)
    made = yield from scaled(in_turn(directed(each, taken, context) for each, taken in pairs), 0.65, 0.7)
    pairs = [(each, measured_in(each, taken, to)) for (each, taken), to in zip(pairs, made, strict=True)]
    shown = [
        (each.scene, to.shaper, to.motion, each.settings) for (each, _), to in zip(pairs, made, strict=True)
    ]
    with previews.paused():
        wanted = yield from scaled(measured.expected(shown, context), 0.7, 0.75)
    shapings = in_turn(shape(each, to, context, warn) for (each, _), to in zip(pairs, made, strict=True))
    made = yield from scaled(shapings, 0.75, 1.0)
    return "; ".join(write(pairs, wanted, made, context, warn))


def recorded(
    asked: list[tuple[bpy.types.Object, BakeSettings]], context: bpy.types.Context, warn: Warn
) -> Generator[Step, None, "list[tuple[Baking, Recording]]"]:
    """The motions of bodies over the same frames; nothing of the scene is changed."""
    readings = in_turn(prepare(host, context, settings, warn) for host, settings in asked)
    bakings = yield from scaled(readings, 0.0, 0.3)
    with previews.without_finals(baking.scene.host for baking in bakings if baking.is_final):
        takes = yield from scaled(record(bakings, context), 0.3, 1.0)
    return list(zip(bakings, takes, strict=True))


def directed(
    baking: Baking, taken: Recording, context: bpy.types.Context
) -> Generator[Step, None, direction.Directed]:
    """The motion of a body as it is shown."""
    made, first = motions.Motions(baking.body, baking.scene), baking.settings.frame_start
    shown = yield from direction.of_motion(made, context.scene, taken.motion, baking.shown, first)
    if baking.settings.target is Target.SKINNING_NODES:
        # Nodes play modes alone.
        return shown
    return (yield from dented.of_motion(made, shown, taken.around, first))


def prepare(
    host: bpy.types.Object, context: bpy.types.Context, settings: BakeSettings, warn: Warn
) -> Generator[Step, None, Baking]:
    """Reads one body, and builds a missing one."""
    bakes.refuse_unfit(host, settings)
    for lack in wholeness.lacks(host, context):
        warn(lack.sentence)
    if settings.shards and host.jounce.loops:
        raise UserError(
            f"{host.name} loops, so every frame depends on all others; it cannot be simulated in shards."
        )
    scene = bodies.read(host, context, warn)
    for obj in scene.objects:
        bakes.refuse_unusable(obj, settings, warn)
    bakes.warn_of_left_out(host, settings, warn)
    digest = scene.surface.digest(host.jounce.build_settings())
    built_again = ""
    if built_bodies.CACHE.get(digest) is None:
        built_again = yield from built_bodies.build(scene.surface, host.jounce.build_settings())
    body = built_bodies.CACHE.get(digest)
    settings = of_built(host, body, settings, warn)
    fine = None
    if settings.quality is Quality.FINAL:
        fine = yield from prepared(body, digest, host.jounce.flesh(), scene.muscles)
    elif settings.quality is Quality.LEARNT:
        fine = learnt_preview.prepared(body, digest, scene)
    joined, lacking = companions.joined(scene, context)
    while lacking is not None:
        yield from lacking
        joined, lacking = companions.joined(scene, context)
    return Baking(joined, settings, body, digest, built_again, fine)


def of_built(host: bpy.types.Object, body: "jounce.Body", settings: BakeSettings, warn: Warn) -> BakeSettings:
    """The settings with the quality of a body just built; warns if an automatic one stays a draft."""
    if not host.jounce.has_final:
        return settings
    tets, touches = len(body.mesh.tets), companions.why_draft(host)
    why = touches or host.jounce.why_draft(settings.target, tets)
    # Bodies that touch each other are drafts by nature, unless the final motion was chosen.
    if why and (not touches or host.jounce.quality == Quality.FINAL.value):
        warn(f"{host.name} is baked as its draft: {why}.")
    quality = Quality.DRAFT if touches else host.jounce.quality_of(settings.target, tets)
    return replace(settings, quality=quality)


def shape(
    baking: Baking, shown: direction.Directed, context: bpy.types.Context, warn: Warn
) -> Generator[Step, None, Prepared]:
    """Makes a motion's bake, ready for writing."""
    if is_crumpled(baking.scene.surface, shown.motion.poses[0]):
        name = baking.scene.host.name
        warn(f"The rest shape of {name} is unlike its posed shape; apply a good pose as rest pose.")
    with previews.paused():
        return (yield from bakes.prepare(baking.scene, shown.shaper, shown.motion, baking.settings, context))


def write(
    pairs: "list[tuple[Baking, Recording]]",
    wanted: list[measured.Expected],
    made: list[Prepared],
    context: bpy.types.Context,
    warn: Warn,
) -> Iterator[str]:
    """Replaces earlier bakes, and describes the new ones."""
    hosts = [baking.scene.host for baking, _ in pairs]
    hidden = [hides_preview(host.jounce) for host in hosts]
    for host in hosts:
        previews.switch_off(host)
        kept.sync(host)
    with previews.paused():
        errors = bakes.replace(wanted, made, context)
    for host, was_previewed in zip(hosts, hidden, strict=True):
        host.jounce.bake_hid_preview = was_previewed
    for (baking, taken), each, error in zip(pairs, made, errors, strict=True):
        remember(baking, taken, context, warn)
        kept.label(baking.scene.host, kept.playing(baking.scene.host))
        yield conclusion(baking, taken, replace(each, error=error), warn)


def hides_preview(state: BakeProps) -> bool:
    """True if a bake now switches a preview off, or replaces a bake that did."""
    return state.preview or (bool(state.bake_parts) and state.bake_hid_preview)


def remember(baking: Baking, taken: Recording, context: bpy.types.Context, warn: Warn) -> None:
    """Keeps a build made for the recording with the host, and reports warnings."""
    host = baking.scene.host
    if baking.digest != host.jounce.built_digest:
        warn(f"{host.name} has changed since it was built, so it was built again.")
        builds.remember(baking.scene, baking.body, baking.digest, baking.built_again, context)
    elif not host.jounce.knows_build:
        builds.remember(baking.scene, baking.body, baking.digest, host.jounce.built_summary, context)
    for sentence in filter(None, (taken.held, taken.rough)):
        warn(f"{host.name}: {sentence}.")


def conclusion(baking: Baking, taken: Recording, prepared: Prepared, warn: Warn) -> str:
    """Keeps and tells the error of a finished bake."""
    scene, settings, state = baking.scene, baking.settings, baking.scene.host.jounce
    state.bake_seam = taken.seam
    state.bake_draft_error = taken.draft_error
    state.bake_depth = taken.depth
    state.bake_error = prepared.error / scene.surface.diagonal
    state.bake_parts = prepared.parts
    state.bake_range = (settings.frame_start, settings.frame_end)
    if settings.target is Target.MODAL_KEYS and state.bake_error > settings.tolerance:
        warn(f"{scene.host.name}: Maximum Keys is too small for the Tolerance; raise one of the two.")
    if state.loops and state.bake_seam > VISIBLE_SEAM:
        warn(
            f"{scene.host.name}: the loop has a seam of {state.bake_seam:.3%} of the size; raise Damping "
            "Ratio."
        )
    if not prepared.parts:
        unmoved = f"{scene.host.name} moves by less than the tolerance, so there is nothing to bake."
        warn(built_bodies.held_skin(baking.body, scene.surface) or unmoved)
    closing = f", seam {state.bake_seam:.4%}" if state.loops else ""
    closing += f"; the draft is {state.bake_draft_error:.0%} off" if baking.tells_draft else ""
    closing += f"; at most {taken.depth:.1%} of the size inside of colliders" if taken.depth else ""
    parts = prepared.parts or "nothing to bake"
    return f"{scene.host.name}: {parts}, error {state.bake_error:.3%} of the rest diagonal{closing}"


def record(bakings: list[Baking], context: bpy.types.Context) -> Generator[Step, None, list[Recording]]:
    """Reads the drives of each body in each frame and simulates missing frames; restores the current frame.

    Every body is simulated on its own thread, during the evaluation of the next frame.
    """
    steps, scene = bakings[0].settings.frames, context.scene
    with ExitStack() as stack:
        passes = [Passes(baking, scene, stack) for baking in bakings]
        fed = [(each.baking.scene, each.baking.body, each.feed) for each in passes]
        # Drafts are simulated during the reading of the scene; final motions take longer.
        reading = 0.3 if any(each.baking.is_final for each in passes) else 0.7
        yield from scaled(frame_readings.over(fed, steps, context), 0.0, reading)
        fillings = [filling for each in passes for filling in each.fillings]
        yield from scaled(in_turn(filling.caught_up() for filling in fillings), reading, 0.8)
        for each in passes:
            each.show(scene, steps)
        return (yield from scaled(in_turn(each.taken() for each in passes), 0.8, 1.0))


class Passes:
    """Passes of a baked body: the draft, and the pass of its quality if another one."""

    def __init__(self, baking: Baking, scene: bpy.types.Scene, stack: ExitStack) -> None:
        """stack: stops the passes at its end."""
        self.baking = baking
        made = self._made = motions.Motions(baking.body, baking.scene, of_modes=True)
        drafts, behind = [baking.draft(made, scene)], baking.behind(made, scene)
        keeps_draft = behind is None or baking.tells_draft
        self.fillings = (drafts if keeps_draft else []) + ([] if behind is None else [behind])
        self._cycle: list[FrameInput] | None = [] if baking.scene.host.jounce.loops else None
        for filling in self.fillings:
            stack.enter_context(closing(filling))

    def feed(self, drive: FrameInput) -> None:
        """Takes the drive of the next frame."""
        if self.baking.fine is not None and not self.baking.is_final:
            refuse_drive(drive, self.baking.scene.host.name)
        if self._cycle is not None:
            self._cycle.append(drive)
            return
        for filling in self.fillings:
            filling.feed(drive)

    def show(self, scene: bpy.types.Scene, frames: range) -> None:
        """Keeps the data for display without Blender with a final motion."""
        if self.baking.is_final and self._cycle is None:
            self._made.show(scene, self.fillings[-1], frames)

    def taken(self) -> Generator[Step, None, Recording]:
        """The recording of the draft, or of the final motion with its draft's error."""
        if not self.baking.tells_draft:
            return self.placed((yield from take(self.fillings[0], self._cycle)))
        takes = in_turn(take(filling, self._cycle) for filling in self.fillings)
        draft, final = yield from scaled(takes, 0.0, 0.5)
        pair = draft.motion.coefficients, final.motion.coefficients
        both = compared(pair[0], self.baking.body, pair[1], self.baking.shown, final.motion.poses)
        error = yield from scaled(both, 0.5, 1.0)
        return self.placed(replace(final, draft_error=error.share))

    def placed(self, taken: Recording) -> Recording:
        """A recording with the places of the colliders."""
        return replace(taken, around=[drive.around for drive in self.fillings[-1].drives])


def measured_in(baking: Baking, taken: Recording, shown: direction.Directed) -> Recording:
    """A recording with the depth of its shown motion in colliders."""
    scene, motion = baking.scene, shown.motion
    touched = scene.colliders.colliders
    if touched is None:
        return taken
    depths = deepest(scene.surface, shown.shaper, touched, motion.poses, motion.coefficients, taken.around)
    metres = max((depth.metres for depth in depths), default=0.0)
    return replace(taken, depth=metres / scene.surface.diagonal)


def take(filling: SimulationPass, cycle: list[FrameInput] | None) -> Generator[Step, None, Recording]:
    """The motion of a pass, or of a cycle with its seam."""
    if cycle is None or not isinstance(filling, LoopPass):
        return Recording(filling.motion(), held=filling.held(), rough=filling.rough())
    motion, report = yield from filling.looped(cycle)
    return Recording(motion, max(report.position, report.velocity))
