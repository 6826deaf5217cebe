"""jounce.fit: makes flesh as soft and as lively as a shot allows."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace

import bpy
import jounce
import numpy as np

from ..bridge.body import bodies
from ..bridge.body.builds import FitOfParts
from ..bridge.inputs import played_actions
from ..bridge.loads import animated_settings
from ..bridge.motions import motions
from ..bridge.preview import frame_readings
from ..bridge.rig.armature_modifier import Warn
from ..core.body import built_bodies, full_space
from ..core.common.task import Step, Task, in_turn, scaled
from ..core.common.user_error import UserError
from ..core.flesh.settings import FrequencyOf, Quality
from ..core.rig import part_settings
from ..core.rig.part_settings import PartRow
from ..core.shot import final_fitting, fit_report, fitting
from ..core.shot.fitting import STRETCHED, Bounds, Fitted, Reason, Tuning
from ..core.shot.motion_extent import Gauge
from ..core.shot.part_fitting import PartTuning
from ..core.shot.tearing import folds_in
from ..core.stepping.motion import TOLERANCE, FrameInput, built_frequency, held_sentence, stiffness_of
from . import needs
from .build import Built, bound_of, build, keep
from .operator import LongOperator

# Tolerance of a rehearsed final motion: an extent within three percent of the real one's, of slow tails too.
REHEARSED = 1e-5
# Modes of the natural draft, which shows the wildest frame.
DRAFTED = 8
# Settings that a fit leaves on the host.
FITTED = (
    "frequency",
    "shot_amount",
    "fitted_frequency",
    "fitted_names",
    "fitted_outline",
    "fitted_keys",
    "fitted_size",
    "fitted_reason",
    "folds",
)


class JOUNCE_OT_fit(LongOperator):
    """Make the flesh as soft as Target Amplitude and Maximum Stretch allow, over the frames of the scene"""

    bl_idname = "jounce.fit"
    bl_label = "Fit to Shot"
    bl_options = {"UNDO"}
    needs = (needs.flesh, needs.out_of_edit_mode)

    def task(self, context: bpy.types.Context) -> Task:
        """Fits one body after the other, and sets their frequencies once all are fitted."""
        steps = shot(context.scene)
        fits = yield from in_turn(fit(host, context, steps) for host in bodies.hosts(context))
        if all(found.fitted.reason is Reason.STILL for found in fits):
            raise UserError(
                "Nothing moves the body in the frames of the scene, so there is nothing to fit to; "
                "animate it first."
            )
        return "; ".join(keep_fit(found, context) for found in fits)


class JOUNCE_OT_fit_again(LongOperator):
    """Fit the frequency again, to the present action"""

    bl_idname = "jounce.fit_again"
    bl_label = "Fit Again"
    bl_options = {"UNDO"}
    needs = (needs.flesh, needs.fitted, needs.out_of_edit_mode)

    def task(self, context: bpy.types.Context) -> Task:
        """Repeats the fit of the fitted selected bodies, and sets their frequencies at the end."""
        steps, hosts = shot(context.scene), needs.fitted(context)
        fits = yield from in_turn(again(host, context, steps, self.warn) for host in hosts)
        return "; ".join(keep_fit(found, context) for found in fits)


@dataclass(frozen=True)
class Fit:
    """The fitted frequency of a body.

    held: frames with held flesh, and the reason; empty without any. built: with the fit. of_parts: what is
    kept with the build.
    """

    host: bpy.types.Object
    fitted: Fitted
    held: str
    built: Built
    of_parts: FitOfParts


# Task with a fit as its result.
Fitting = Generator[Step, None, Fit]


def shot(scene: bpy.types.Scene) -> range:
    """The frames of a scene."""
    return range(scene.frame_start, scene.frame_end + 1)


def again(host: bpy.types.Object, context: bpy.types.Context, steps: range, warn: Warn) -> Fitting:
    """Repeats a fit; builds the body again if another set of bones is moved."""
    made = None
    if not is_built(host, context):
        made = yield from scaled(build(host, context, warn), 0.0, 0.5)
    search = fit(host, context, steps)
    found = yield from scaled(search, 0.0 if made is None else 0.5, 1.0)
    return found if made is None else replace(found, built=replace(found.built, bound=made.bound))


def is_built(host: bpy.types.Object, context: bpy.types.Context) -> bool:
    """True if the body of a host is built in its present state, and in memory."""
    digest = bodies.read(host, context, lambda _sentence: None).surface.digest(host.jounce.build_settings())
    return digest == host.jounce.built_digest and digest in built_bodies.CACHE


def fit(host: bpy.types.Object, context: bpy.types.Context, steps: range) -> Fitting:
    """Finds frequency and shot amount of a built body for its bounds over these frames.

    Fitted at a softness and an amount of 1, which both set the motion beside the fit; keyed amounts count.
    """
    state = host.jounce
    if state.material() is not None:
        raise UserError(
            f"The stiffness of {host.name} is that of a material; choose Frequency as Stiffness By in the "
            "panel Motion."
        )
    if animated_settings.is_animated(host, frozenset(["frequency"])):
        raise UserError(
            f"The frequency of {host.name} is animated, so it cannot be fitted; remove its keys first."
        )
    scene = bodies.read(host, context, lambda _sentence: None)
    if scene.surface.digest(state.build_settings()) not in built_bodies.CACHE:
        raise UserError(f"{host.name} has changed since it was built; use Build first.")
    return (yield from searched(scene, steps, context))


def searched(scene: bodies.BodyScene, steps: range, context: bpy.types.Context) -> Fitting:
    """Finds the fit of a body over these frames, and builds the body with it."""
    host = scene.host
    trials = yield from scaled(Trials.of(scene, steps, context), 0.0, 0.3)
    free = yield from scaled(trials.free(), 0.3, 0.4)
    start = fitting.begun(free, bounds_of(host))
    if trials.is_final and not fitting.is_still(free, 0.0):
        firming = trials.firmed(free, start, steps, context)
        trials, start = yield from scaled(firming, 0.4, 0.5)
    fitted = yield from scaled(tuned(trials, free, start), 0.5, 0.9)
    parts = trials.named(fitted.parts)
    rows = {row.name: row for row in host.jounce.part_rows()}
    rows = {name: PartRow(name) for name in parts} | rows
    fits = [replace(row, fitted=parts.get(name, part_settings.PLAIN)) for name, row in rows.items()]
    own = yield from scaled(with_parts(trials.plain.scene, fits), 0.9, 1.0)
    digest = own.scene.surface.digest(host.jounce.build_settings())
    message = built_bodies.describe(own.body, len(own.scene.surface.stitches))
    new = Built(own.scene, bound_of(host), own.body, digest, message)
    told = yield from trials.told(fitted, own.body)
    of_parts = FitOfParts(parts, trials.folds, told)
    return Fit(host, fitted, held_sentence(trials.drives, steps.start), new, of_parts)


def with_parts(
    scene: bodies.BodyScene, rows: list[PartRow], sketched: int = 0
) -> Generator[Step, None, motions.Motions]:
    """The body of a scene with these settings of its parts, built if it is not in memory.

    sketched: number of modes of a sketch, 0 for the whole body.
    """
    surface, settings = scene.surface, scene.host.jounce.build_settings()
    if surface.core is not None and surface.core.anatomy:
        surface = replace(surface, core=replace(surface.core, parts=part_settings.acting(rows)))
    if sketched:
        body = yield from built_bodies.sketch(surface, settings, sketched)
    else:
        digest = surface.digest(settings)
        if digest not in built_bodies.CACHE:
            yield from built_bodies.build(surface, settings)
        body = built_bodies.CACHE.get(digest)
    return motions.Motions(body, replace(scene, surface=surface))


@dataclass(frozen=True)
class Trials:
    """Motions of a body over the frames of a shot, with tunings of the body and of its parts.

    plain: the body with all parts alike. names: of the measured parts. is_final: True for final motions,
    for which a sketch of the body is enough. folds: of the surface in the drives, as text. gauge: of the
    plain body. made: bodies with other tunings of the parts, made before.
    """

    plain: motions.Motions
    drives: list[FrameInput]
    scene: bpy.types.Scene
    gauge: Gauge
    is_final: bool
    is_sketched: bool
    folds: str
    made: dict[tuple[PartTuning, ...], motions.Motions] = field(default_factory=dict)

    @classmethod
    def of(
        cls, scene: bodies.BodyScene, steps: range, context: bpy.types.Context
    ) -> "Generator[Step, None, Trials]":
        """Reads the drives of a body over these frames; refuses a body without moving skin."""
        state = scene.host.jounce
        is_final = state.simulated_quality is Quality.FINAL
        # The lowest mode of a sketch is not exactly that of the body.
        is_sketched = is_final and state.motion_settings().frequency_of is FrequencyOf.SIZE
        modes = DRAFTED if is_sketched else 0
        plain = yield from scaled(with_parts(scene, [], modes), 0.0, 0.2)
        if unmoved := built_bodies.held_skin(plain.body, scene.surface):
            raise UserError(unmoved)
        drives = yield from scaled(read(plain, steps, context), 0.2, 0.8)
        folds = folds_in(scene.surface, drives)
        if folds != state.folds:
            plain, drives = yield from refolded(plain, drives, folds, modes, steps, context)
        gauge = Gauge(plain.body, scene.surface, drives)
        return cls(plain, drives, context.scene, gauge, is_final, is_sketched, folds)

    def firmed(
        self, free: fitting.Extent, start: float, steps: range, context: bpy.types.Context
    ) -> "Generator[Step, None, tuple[Trials, float]]":
        """Trials with firmer flesh where it stretches most, which may be softer elsewhere; an ease for them.

        free: extent of the natural draft. start: ease at which the stretch is measured.
        """
        own = final_fitting.around(free.wildest, len(self.drives))
        rehearsal = yield from scaled(self._rehearsal(own, ()), 0.0, 0.2)
        extent = yield from scaled(rehearsal(fitting.tuning(start)), 0.2, 0.8)
        bounds = bounds_of(self.plain.scene.host)
        ease = fitting.nearer(start, bounds.used(extent)[0])
        most = np.inf if bounds.strain is None else bounds.strain / fitting.growth(start, extent, bounds)
        folds = rehearsal.gauge.firmed(self.folds, most)
        if folds == self.folds:
            return self, ease
        modes = DRAFTED if self.is_sketched else 0
        made = refolded(self.plain, self.drives, folds, modes, steps, context)
        plain, drives = yield from scaled(made, 0.8, 1.0)
        return replace(self, plain=plain, drives=drives, folds=folds, made={}), ease

    def named(self, parts: tuple[PartTuning, ...]) -> dict[str, PartTuning]:
        """The tunings of the parts by their names."""
        return dict(zip(self.gauge.parts, parts, strict=True)) if parts else {}

    def told(
        self, fitted: Fitted, body: "jounce.Body"
    ) -> "Generator[Step, None, dict[str, fit_report.PartReport]]":
        """A report of each measured part of a body that is built with a fit."""
        host = self.plain.scene.host
        settings = host.jounce.motion_settings()
        if fitted.tuning is not None:
            settings = replace(settings, frequency=fitted.tuning.frequency)
        settings = replace(settings, softness=1.0)
        stiffness = stiffness_of(built_frequency(body, settings.frequency_of), settings)
        return (yield from fit_report.reports(fitted, self.gauge.parts, bounds_of(host), body, stiffness))

    def free(self) -> fitting.Measuring:
        """The extent of the natural draft without limits."""
        gauge = self.gauge.over(self.plain.body, self.plain.scene.surface, self.drives)
        return Rehearsal(self.plain, gauge, self.drives, self.scene, is_limited=False)(fitting.tuning(0.0))

    def extent_over(self, own: slice, parts: tuple[PartTuning, ...]) -> Callable[[Tuning], fitting.Measuring]:
        """The extent over a slice of the frames with these tunings of the parts."""
        made: list[Rehearsal] = []

        def extent_at(tuning: Tuning) -> fitting.Measuring:
            if not made:
                made.append((yield from scaled(self._rehearsal(own, parts), 0.0, 0.1)))
            return (yield from scaled(made[0](tuning), 0.1, 1.0))

        return extent_at

    def _rehearsal(self, own: slice, parts: tuple[PartTuning, ...]) -> "Generator[Step, None, Rehearsal]":
        rows = [PartRow(name, fitted=fitted) for name, fitted in self.named(parts).items()]
        made = self.made.get(parts, self.plain)
        if rows and parts not in self.made:
            made = yield from with_parts(self.plain.scene, rows, int(self.is_sketched))
            self.made[parts] = made
        model = (yield from prepared(made)).model if self.is_final else None
        drives = self.drives[own]
        gauge = self.gauge.over(made.body, made.scene.surface, drives, model)
        return Rehearsal(made, gauge, drives, self.scene, model, part=len(drives) / len(self.drives))


def read(made: motions.Motions, steps: range, context: bpy.types.Context) -> frame_readings.Drives:
    """The drives of a body over these frames, with keyed amounts alone."""
    host = made.scene.host
    drives = yield from frame_readings.of_body(made, steps, context)
    is_keyed, amount = animated_settings.is_animated(host, frozenset(["strength"])), host.jounce.shot_amount
    return [replace(drive, strength=drive.strength / amount if is_keyed else 1.0) for drive in drives]


def refolded(
    made: motions.Motions,
    drives: list[FrameInput],
    folds: str,
    modes: int,
    steps: range,
    context: bpy.types.Context,
) -> Generator[Step, None, tuple[motions.Motions, list[FrameInput]]]:
    """A body with other folds, and its drives. modes: of a sketch, 0 for the whole body."""
    scene = bodies.refolded(made.scene, folds)
    made = yield from scaled(with_parts(scene, [], modes), 0.0, 0.5)
    # Offsets and forces are those of the modes of one body.
    if any(drive.offsets is not None or drive.force is not None for drive in drives):
        drives = yield from scaled(read(made, steps, context), 0.5, 1.0)
    return made, drives


def tuned(trials: Trials, free: fitting.Extent, start: float) -> Generator[Step, None, Fitted]:
    """Fits what plays: the final motion, or the draft.

    free: extent of the natural draft without limits. start: first ease.
    """
    bounds, every = bounds_of(trials.plain.scene.host), slice(0, len(trials.drives))
    if trials.is_final:
        search = final_fitting.finally_fitted(free, trials.extent_over, bounds, every.stop, start)
        return (yield from search)
    search = fitting.fitted(trials.extent_over(every, ()), bounds, start)
    found = yield from scaled(search, 0.0, 0.6)
    search = final_fitting.with_parts(found, trials.extent_over, every, bounds)
    return (yield from scaled(search, 0.6, 1.0))


def prepared(made: motions.Motions) -> Generator[Step, None, full_space.FineBody]:
    """The body in the full space."""
    state = made.scene.host.jounce
    digest = made.scene.surface.digest(state.build_settings())
    return (yield from full_space.prepared(made.body, digest, state.flesh(), made.scene.muscles))


def bounds_of(host: bpy.types.Object) -> Bounds:
    """The bounds of a motion from a host's settings."""
    state = host.jounce
    return Bounds(state.amount / 100.0, STRETCHED * state.stretch / 100.0 if state.use_stretch else None)


def keep_fit(found: Fit, context: bpy.types.Context) -> str:
    """Sets the fitted frequency, remembers the played animation, and describes the fit with its reason."""
    keep(found.built, context, found.of_parts)
    state, now, fitted = found.host.jounce, played_actions.now(found.host), found.fitted
    if fitted.tuning is not None:
        state.frequency, state.shot_amount = fitted.tuning.frequency, fitted.tuning.amount
    state.fitted_frequency = state.frequency
    state.fitted_names, state.fitted_outline = now.names, now.outline
    state.fitted_keys = played_actions.keys(found.host)
    size = fit_report.motion(fitted.extent, found.of_parts.told)
    state.fitted_size, state.fitted_reason = size, fitted.reason.name
    held = f". {found.held}" if found.held else ""
    parts = {name: softness * amount for name, (softness, amount) in found.of_parts.parts.items()}
    tuning = Tuning(state.frequency, state.shot_amount)
    return f"{fit_report.sentence(found.host.name, tuning, fitted.reason, size, parts)}{held}"


class Rehearsal:
    """The extent of the draft over some drives, or of the final motion, with a tuning."""

    def __init__(
        self,
        made: motions.Motions,
        gauge: Gauge,
        drives: list[FrameInput],
        scene: bpy.types.Scene,
        model: "jounce.Model | None" = None,
        is_limited: bool = True,
        part: float = 1.0,
    ) -> None:
        """gauge: of these drives and this model. model: of the full space, None for drafts.

        is_limited: True if the body's limits act. part: share of the whole shot in these drives.
        """
        own = made.scene.host.jounce.motion_settings()
        self._settings = own if is_limited else replace(own, limit=None, stretch=None)
        self._made, self._drives, self._scene, self._part = made, drives, scene, part
        self._model, self.gauge = model, gauge

    def __call__(self, tuning: Tuning) -> fitting.Measuring:
        """The extent of the motion."""
        made = self._made
        settings = replace(self._settings, frequency=tuning.frequency, softness=1.0)
        tolerance = TOLERANCE if self._model is None else REHEARSED
        rehearsal = made.rehearsal(self._scene, settings, model=self._model, tolerance=tolerance)
        stiffness = stiffness_of(built_frequency(made.body, settings.frequency_of), settings)
        for drive in self._drives:
            felt = drive.feel and replace(drive.feel, stiffness=stiffness)
            rehearsal.feed(replace(drive, feel=felt, strength=drive.strength * tuning.amount))
        return fitting.extent_of(rehearsal, self.gauge, self._part)
