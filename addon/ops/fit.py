"""jounce.fit: sets the frequency for the wanted amplitude of the flesh in a shot."""

from collections.abc import Generator
from dataclasses import dataclass, replace

import bpy
from bpy.props import BoolProperty

from ..bridge.body import bodies
from ..bridge.inputs import animated_settings, frame_readings, played_actions
from ..bridge.preview import motions
from ..bridge.rig.armature_modifier import Warn
from ..core import bodies as built
from ..core import fitting
from ..core.motion import FrameInput, built_frequency, held_sentence, stiffness_of
from ..core.task import Step, Task, in_turn, scaled
from ..core.user_error import UserError
from . import needs
from .build import Built, build
from .build import keep as keep_built
from .operator import LongOperator


class JOUNCE_OT_fit(LongOperator):
    """Set the frequency so that the flesh moves as far as the amount says, over the frames of the scene"""

    bl_idname = "jounce.fit"
    bl_label = "Fit to Shot"
    bl_options = {"UNDO"}
    needs = (needs.flesh, needs.out_of_edit_mode)

    only_firmer: BoolProperty(
        name="Only Firmer",
        description="Leave the frequency as it is where the flesh moves by less",
        options={"SKIP_SAVE"},
    )

    def task(self, context: bpy.types.Context) -> Task:
        """Fits one body after the other, and sets their frequencies once all are fitted."""
        steps = shot(context.scene)
        parts = (fit(host, context, steps, self.only_firmer) for host in bodies.hosts(context))
        fits = yield from in_turn(parts)
        return "; ".join(keep(fitted, context) for fitted in fits)


class JOUNCE_OT_fit_again(LongOperator):
    """Fit the frequency, as it was fitted before, to what plays now"""

    bl_idname = "jounce.fit_again"
    bl_label = "Fit Again"
    bl_options = {"UNDO"}
    needs = (needs.flesh, needs.fitted, needs.out_of_edit_mode)

    def task(self, context: bpy.types.Context) -> Task:
        """Repeats the fit of the fitted selected bodies, and sets their frequencies at the end."""
        steps, hosts = shot(context.scene), needs.fitted(context)
        fits = yield from in_turn(again(host, context, steps, self.warn) for host in hosts)
        return "; ".join(keep(fitted, context) for fitted in fits)


@dataclass(frozen=True)
class Fit:
    """Result of a fit: the frequency in Hz, and the size of the motion, as a share of the body's size.

    held: frames with held flesh, and the reason; empty without any. first: start of the search. only_firmer:
    True if a smaller motion was accepted. built: build made for the fit.
    """

    host: bpy.types.Object
    frequency: float
    size: float
    held: str
    first: float
    only_firmer: bool
    built: Built | None = None


# Task with a fit as its result.
Fitting = Generator[Step, None, Fit]


def shot(scene: bpy.types.Scene) -> range:
    """The frames of a scene."""
    return range(scene.frame_start, scene.frame_end + 1)


def fit_body(
    host: bpy.types.Object, context: bpy.types.Context, steps: range, only_firmer: bool = False
) -> Task:
    """Sets the frequency of a built body for the amplitude of its settings over these frames."""
    return keep((yield from fit(host, context, steps, only_firmer)), context)


def again(host: bpy.types.Object, context: bpy.types.Context, steps: range, warn: Warn) -> Fitting:
    """Repeats a fit; builds the body again if another set of bones is moved."""
    state, made = host.jounce, None
    if not is_built(host, context):
        made = yield from scaled(build(host, context, warn), 0.0, 0.5)
    search = fit(host, context, steps, state.fitted_only_firmer, state.fitted_from)
    return replace((yield from scaled(search, 0.0 if made is None else 0.5, 1.0)), built=made)


def is_built(host: bpy.types.Object, context: bpy.types.Context) -> bool:
    """True if the body of a host is built in its present state, and in memory."""
    digest = bodies.read(host, context, lambda _sentence: None).surface.digest(host.jounce.build_settings())
    return digest == host.jounce.built_digest and digest in built.CACHE


def fit(
    host: bpy.types.Object,
    context: bpy.types.Context,
    steps: range,
    only_firmer: bool,
    first: float | None = None,
) -> Fitting:
    """Finds the frequency of a built body for the amplitude of its settings over these frames.

    first: start of the search in Hz, by default the body's own frequency.
    """
    state = host.jounce
    first = state.frequency if first is None else first
    if state.material() is not None:
        raise UserError(f"The stiffness of {host.name} is that of a material; set Stiffness by Frequency.")
    if animated_settings.is_animated(host, frozenset(["frequency"])):
        raise UserError(
            f"The frequency of {host.name} is animated, so it cannot be fitted; take its keys off."
        )
    scene = bodies.read(host, context, lambda _sentence: None)
    body = built.CACHE.get(scene.surface.digest(state.build_settings()))
    if body is None:
        raise UserError(f"{host.name} is not built as it is now; use Build first.")
    made = motions.Motions(body, scene)
    drives = yield from scaled(frame_readings.of_body(made, steps, context), 0.0, 0.6)
    size_at = Rehearsal(made, drives, context.scene)
    search = fitting.fitted(size_at, state.amount / 100.0, first, only_firmer)
    frequency, size = yield from scaled(search, 0.6, 1.0)
    return Fit(host, frequency, size, held_sentence(drives, steps.start), first, only_firmer)


def keep(fitted: Fit, context: bpy.types.Context) -> str:
    """Sets the fitted frequency, remembers the played animation, and describes the fit."""
    if fitted.built is not None:
        keep_built(fitted.built, context)
    state, now = fitted.host.jounce, played_actions.now(fitted.host)
    state.frequency = fitted.frequency
    state.fitted_frequency, state.fitted_from = state.frequency, fitted.first
    state.fitted_only_firmer = fitted.only_firmer
    state.fitted_names, state.fitted_outline = now.names, now.outline
    state.fitted_keys = played_actions.keys(fitted.host)
    held = f". {fitted.held}" if fitted.held else ""
    return f"{fitted.host.name}: {fitted.frequency:.3g} Hz, moves by {fitted.size:.2%} of the size{held}"


class Rehearsal:
    """Size of the motion over some drives at a frequency, without limits."""

    def __init__(self, made: motions.Motions, drives: list[FrameInput], scene: bpy.types.Scene) -> None:
        self._made, self._drives, self._scene = made, drives, scene

    def __call__(self, frequency: float) -> fitting.Measuring:
        """The size of the motion, as a share of the diagonal."""
        made = self._made
        settings = replace(
            made.scene.host.jounce.motion_settings(), frequency=frequency, limit=None, stretch=None
        )
        filling = made.rehearsal(self._scene, settings)
        stiffness = stiffness_of(built_frequency(made.body, settings.frequency_of), settings)
        for drive in self._drives:
            felt = drive.feel and replace(drive.feel, stiffness=stiffness)
            filling.feed(replace(drive, feel=felt))
        core = made.scene.surface.core
        swings = None if core is None else core.swings(made.body.roles)
        return fitting.size_of(filling, made.body, made.diagonal, swings)
