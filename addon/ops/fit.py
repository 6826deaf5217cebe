"""jounce.fit: makes flesh as soft and as lively as a shot allows."""

from collections.abc import Generator
from dataclasses import dataclass, replace

import bpy

from ..bridge.body import bodies
from ..bridge.inputs import played_actions
from ..bridge.loads import animated_settings
from ..bridge.motions import motions
from ..bridge.preview import frame_readings
from ..bridge.rig.armature_modifier import Warn
from ..core.body import bodies as built
from ..core.body import full_space
from ..core.common.task import Step, Task, in_turn, scaled
from ..core.common.user_error import UserError
from ..core.flesh.settings import Quality
from ..core.rig import part_settings
from ..core.rig.part_settings import PartRow
from ..core.shot import fitting, part_fitting
from ..core.shot.fitting import STRETCHED, Bounds, Fitted, Reason, Tuning
from ..core.shot.motion_extent import Gauge
from ..core.stepping.motion import TOLERANCE, FrameInput, built_frequency, held_sentence, stiffness_of
from . import needs
from .build import Built, bound_of, build
from .build import keep as keep_built
from .operator import LongOperator

# Tolerance of a rehearsed final motion: an extent within three percent of the real one's, in half the time.
REHEARSED = 1e-4
# Settings that a fit leaves on the host.
FITTED = ("frequency", "shot_amount", "fitted_frequency", "fitted_names", "fitted_outline", "fitted_keys")


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
                "Nothing moves the body in the frames of the scene, so there is nothing to fit to."
            )
        return "; ".join(keep(found, context) for found in fits)


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
        return "; ".join(keep(found, context) for found in fits)


@dataclass(frozen=True)
class Fit:
    """The fitted frequency of a body.

    held: frames with held flesh, and the reason; empty without any. built: build made for the fit. parts:
    fitted softness and amount by the names of the parts that differ from the body; None without a fit.
    """

    host: bpy.types.Object
    fitted: Fitted
    held: str
    built: Built | None = None
    parts: dict[str, tuple[float, float]] | None = None


# Task with a fit as its result.
Fitting = Generator[Step, None, Fit]


def shot(scene: bpy.types.Scene) -> range:
    """The frames of a scene."""
    return range(scene.frame_start, scene.frame_end + 1)


def fit_body(host: bpy.types.Object, context: bpy.types.Context, steps: range) -> Task:
    """Fits the frequency of a built body to these frames."""
    return keep((yield from fit(host, context, steps)), context)


def again(host: bpy.types.Object, context: bpy.types.Context, steps: range, warn: Warn) -> Fitting:
    """Repeats a fit; builds the body again if another set of bones is moved."""
    made = None
    if not is_built(host, context):
        made = yield from scaled(build(host, context, warn), 0.0, 0.5)
    search = fit(host, context, steps)
    found = yield from scaled(search, 0.0 if made is None else 0.5, 1.0)
    return found if made is None else replace(found, built=replace(found.built or made, bound=made.bound))


def is_built(host: bpy.types.Object, context: bpy.types.Context) -> bool:
    """True if the body of a host is built in its present state, and in memory."""
    digest = bodies.read(host, context, lambda _sentence: None).surface.digest(host.jounce.build_settings())
    return digest == host.jounce.built_digest and digest in built.CACHE


def fit(host: bpy.types.Object, context: bpy.types.Context, steps: range) -> Fitting:
    """Finds frequency and shot amount of a built body for its bounds over these frames.

    Fitted at a softness and an amount of 1, which both set the motion beside the fit; keyed amounts count.
    """
    state = host.jounce
    if state.material() is not None:
        raise UserError(f"The stiffness of {host.name} is that of a material; set Stiffness by Frequency.")
    if animated_settings.is_animated(host, frozenset(["frequency"])):
        raise UserError(
            f"The frequency of {host.name} is animated, so it cannot be fitted; take its keys off."
        )
    scene = bodies.read(host, context, lambda _sentence: None)
    if (own := built.CACHE.get(scene.surface.digest(state.build_settings()))) is None:
        raise UserError(f"{host.name} is not built as it is now; use Build first.")
    if unmoved := built.held_skin(own, scene.surface):
        raise UserError(unmoved)
    plain = yield from scaled(with_parts(scene, []), 0.0, 0.05)
    drives = yield from scaled(frame_readings.of_body(plain, steps, context), 0.05, 0.5)
    is_keyed = animated_settings.is_animated(host, frozenset(["strength"]))
    drives = [replace(d, strength=d.strength / state.shot_amount if is_keyed else 1.0) for d in drives]
    fitted = yield from scaled(tuned(plain, drives, context.scene), 0.5, 0.8)
    found = Fit(host, fitted, held_sentence(drives, steps.start))
    return (yield from scaled(in_parts(found, plain, drives, context.scene), 0.8, 1.0))


def with_parts(scene: bodies.BodyScene, rows: list[PartRow]) -> Generator[Step, None, motions.Motions]:
    """The body of a scene with these settings of its parts; built if it is not in memory."""
    surface = scene.surface
    if surface.core is not None and surface.core.anatomy:
        surface = replace(surface, core=replace(surface.core, parts=part_settings.acting(rows)))
    settings = scene.host.jounce.build_settings()
    digest = surface.digest(settings)
    if digest not in built.CACHE:
        yield from built.build(surface, settings)
    return motions.Motions(built.CACHE.get(digest), replace(scene, surface=surface))


def tuned(
    made: motions.Motions, drives: list[FrameInput], scene: bpy.types.Scene
) -> Generator[Step, None, Fitted]:
    """Fits what plays: the final motion, or the draft."""
    state, bounds = made.scene.host.jounce, bounds_of(made.scene.host)
    natural = Rehearsal(made, drives, scene, is_limited=False)(fitting.tuning(0.0))
    free = yield from scaled(natural, 0.0, 0.1)
    if state.simulated_quality is not Quality.FINAL:
        search = fitting.fitted(Rehearsal(made, drives, scene), bounds, fitting.begun(free, bounds))
        return (yield from scaled(search, 0.1, 1.0))
    fine = yield from scaled(prepared(made), 0.1, 0.2)
    search = fitting.finally_fitted(
        free, lambda own: Rehearsal(made, drives[own], scene, fine), bounds, len(drives)
    )
    return (yield from scaled(search, 0.2, 1.0))


def prepared(made: motions.Motions) -> Generator[Step, None, full_space.FineBody]:
    """The body in the full space."""
    state = made.scene.host.jounce
    digest = made.scene.surface.digest(state.build_settings())
    return (yield from full_space.prepared(made.body, digest, state.flesh(), made.scene.muscles))


def in_parts(found: Fit, plain: motions.Motions, drives: list[FrameInput], scene: bpy.types.Scene) -> Fitting:
    """Fits the parts beside the whole body, and builds them in."""
    host, fitted = found.host, found.fitted
    names, parts = Gauge(plain.body, plain.scene.surface, drives).parts, {}
    if fitted.ease is None:
        return found

    def settings(eases: part_fitting.Eases) -> dict[str, tuple[float, float]]:
        return {n: part_fitting.setting(fitted.ease, own) for n, own in zip(names, eases, strict=True)}

    def extent_at(eases: part_fitting.Eases) -> fitting.Measuring:
        rows = [PartRow(name, fitted=own) for name, own in settings(eases).items()]
        made = yield from scaled(with_parts(plain.scene, rows), 0.0, 0.3)
        is_final = host.jounce.simulated_quality is Quality.FINAL
        fine = (yield from prepared(made)) if is_final else None
        return (yield from scaled(Rehearsal(made, drives, scene, fine)(fitted.tuning), 0.3, 1.0))

    if fitted.reason is not Reason.RIG and len(names) > 1:
        search = part_fitting.fitted(fitted.ease, fitted.extent, extent_at, bounds_of(host))
        eases, extent = yield from scaled(search, 0.0, 0.9)
        fitted, parts = replace(fitted, extent=extent), settings(eases) if any(eases) else {}
    rows = [replace(row, fitted=parts.get(row.name, part_settings.PLAIN)) for row in host.jounce.part_rows()]
    own = yield from scaled(with_parts(plain.scene, rows), 0.9, 1.0)
    digest = own.scene.surface.digest(host.jounce.build_settings())
    new = Built(own.scene, bound_of(host), own.body, digest, host.jounce.built_summary)
    return replace(found, fitted=fitted, built=new, parts=parts)


def bounds_of(host: bpy.types.Object) -> Bounds:
    """The bounds of a motion from a host's settings."""
    state = host.jounce
    return Bounds(state.amount / 100.0, STRETCHED * state.stretch / 100.0 if state.use_stretch else None)


def keep(found: Fit, context: bpy.types.Context) -> str:
    """Sets the fitted frequency, remembers the played animation, and describes the fit with its reason."""
    if found.parts is not None:
        found.host.jounce.fit_parts(found.parts)
    if found.built is not None:
        keep_built(found.built, context)
    state, now, fitted = found.host.jounce, played_actions.now(found.host), found.fitted
    if fitted.tuning is not None:
        state.frequency, state.shot_amount = fitted.tuning.frequency, fitted.tuning.amount
    state.fitted_frequency = state.frequency
    state.fitted_names, state.fitted_outline = now.names, now.outline
    state.fitted_keys = played_actions.keys(found.host)
    held = f". {found.held}" if found.held else ""
    feels = f"{state.frequency:.3g} Hz, feels {state.shot_amount:.0%} of the rig's acceleration"
    moves = f"{feels} and moves by {fitted.extent.size:.2%} of the size"
    return f"{found.host.name}: {moves}, as {fitted.reason.value}{told_parts(found.parts or {})}{held}"


def told_parts(parts: dict[str, tuple[float, float]]) -> str:
    """Sentence about the parts that are fitted otherwise than the body; empty for none."""
    shares = {name: softness * amount for name, (softness, amount) in parts.items()}
    told = [f"{part_settings.LABELS[n]} {share:.2g}" for n, share in shares.items() if not 0.8 < share < 1.25]
    return f". Liveliness beside the body's: {', '.join(told)}" if told else ""


class Rehearsal:
    """The extent of the draft over some drives, or of the final motion, with a tuning."""

    def __init__(
        self,
        made: motions.Motions,
        drives: list[FrameInput],
        scene: bpy.types.Scene,
        fine: full_space.FineBody | None = None,
        is_limited: bool = True,
    ) -> None:
        """fine: the body in the full space, None for drafts. is_limited: True if the body's limits act."""
        own = made.scene.host.jounce.motion_settings()
        self._settings = own if is_limited else replace(own, limit=None, stretch=None)
        self._made, self._drives, self._scene = made, drives, scene
        self._model = None if fine is None else fine.model
        self._gauge = Gauge(made.body, made.scene.surface, drives, self._model)

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
        return fitting.extent_of(rehearsal, self._gauge)
