"""Fits flesh and its parts to a shot by few and short final motions.

The body and then its parts are fitted around the wildest frame. The result is measured in all frames, and
fitted once more where these show a need.
"""

from collections.abc import Callable, Generator
from dataclasses import replace

from ..common.task import Step, scaled
from . import part_fitting
from .fitting import NEAR, Bounds, Fitted, Measuring, Reason, Tuning, begun, fitted, is_still, tuning
from .motion_extent import AFTER, BEFORE, Extent
from .part_fitting import Eases, PartTuning, with_hanging

# Largest number of tried tunings of a body.
TRIES = 4
# Most times that all frames show a motion too wild, and it is calmed.
ROUNDS = 2
# Most frames of a motion that is tried whole.
SHORT = 24
# Used share of the nearest bound from which on the parts of a body are fitted.
COARSE = 0.85
# Smallest used share that ends the search for a body whose hanging parts are at their calmest.
CALM_ENOUGH = 0.5

# Extent over a slice of the frames, with the tunings of the parts beside the body's; none if all are alike.
ExtentOver = Callable[[slice, tuple[PartTuning, ...]], Callable[[Tuning], Measuring]]


def finally_fitted(
    free: Extent, extent_over: ExtentOver, bounds: Bounds, frames: int, start: float | None = None
) -> Generator[Step, None, Fitted]:
    """The easiest tunings of body and parts with a final motion within its bounds.

    free: of the natural draft without limits. start: first ease, None for one from this extent.
    """
    if is_still(free, 0.0):
        return Fitted(None, free, Reason.STILL)
    every, own, enough = slice(0, frames), around(free.wildest, frames), enough_for(free)
    start = begun(free, bounds) if start is None else start
    search = fitted(extent_over(own, ()), bounds, start, TRIES, enough=enough)
    found = yield from scaled(search, 0.0, 0.4)
    found = yield from scaled(with_parts(found, extent_over, own, bounds), 0.4, 0.6)
    ease = found.ease
    if ease is None or own == every:
        return found
    found = yield from scaled(measured(found, extent_over, every), 0.6, 0.9)
    used, nearest = bounds.used(found.extent)
    if found.reason is Reason.AMPLITUDE is nearest and not enough < used < NEAR:
        search = fitted(extent_over(every, found.parts), bounds, ease, TRIES, known=found.extent)
        again = yield from scaled(search, 0.9, 0.92)
        found = replace(again, parts=found.parts, eases=found.eases)
    for number in range(ROUNDS):
        if part_fitting.used(found.extent, bounds) < NEAR:
            break
        own, begin = around(found.extent.wildest, frames), 0.92 + 0.04 * number
        calm = yield from scaled(calmed(found, extent_over, own, bounds), begin, begin + 0.02)
        if (calm.ease, calm.eases) == (found.ease, found.eases):
            return replace(found, reason=calm.reason)
        found = yield from scaled(measured(calm, extent_over, every), begin + 0.02, begin + 0.04)
    return found


def enough_for(extent: Extent) -> float:
    """Smallest used share of the nearest bound from which on a body is not searched further.

    Its parts, if it has some, come nearer.
    """
    return COARSE if len(extent.parts) > 1 else 1.0 / NEAR


def measured(found: Fitted, extent_over: ExtentOver, own: slice) -> Generator[Step, None, Fitted]:
    """A fit with its extent over a slice of the frames."""
    if found.tuning is None:
        return found
    return replace(found, extent=(yield from extent_over(own, found.parts)(found.tuning)))


def with_parts(
    found: Fitted, extent_over: ExtentOver, own: slice, bounds: Bounds
) -> Generator[Step, None, Fitted]:
    """A fit of a body over a slice of the frames, with its parts fitted beside it."""
    if found.ease is None or found.reason is Reason.RIG or len(found.extent.parts) < 2:
        return found
    ease, whole = found.ease, found.extent
    extent_at = at_eases(ease, whole, extent_over, own)
    eases, extent = yield from part_fitting.fitted(ease, whole, extent_at, bounds)
    return replace(found, parts=of_eases(ease, eases, whole), eases=eases, extent=extent)


def calmed(
    found: Fitted, extent_over: ExtentOver, own: slice, bounds: Bounds
) -> Generator[Step, None, Fitted]:
    """A fit with a calmer body, or calmer parts if it has some."""
    ease, eases = found.ease, found.eases
    if ease is None:
        return found
    if not eases:
        return (yield from fitted(extent_over(own, ()), bounds, ease, TRIES, ease, found.extent))
    if bounds.used(found.extent)[0] < NEAR:
        # Hanging parts swing widest in other frames than those of the largest strain.
        calm = part_fitting.calmer(ease, eases, found.extent, bounds)
        if calm != eases:
            return replace(found, parts=of_eases(ease, calm, found.extent), eases=calm)
        # The calmest ones swing with the body.
        known, strict = with_hanging(found.extent), strictly(extent_over(own, found.parts))
        again = yield from fitted(strict, bounds, ease, TRIES, ease, known, CALM_ENOUGH)
        return replace(again, parts=found.parts, eases=eases)
    extent_at = at_eases(ease, found.extent, extent_over, own)
    eases, extent = yield from part_fitting.calmed(ease, (eases, found.extent), extent_at, bounds)
    return replace(found, parts=of_eases(ease, eases, extent), eases=eases, extent=extent)


def strictly(extent_at: Callable[[Tuning], Measuring]) -> Callable[[Tuning], Measuring]:
    """An extent in which the parts that hang on the body count nearly as much as the body."""

    def measured_at(tried: Tuning) -> Measuring:
        return with_hanging((yield from extent_at(tried)))

    return measured_at


def at_eases(ease: float, whole: Extent, extent_over: ExtentOver, own: slice) -> Callable[[Eases], Measuring]:
    """The extent over a slice of the frames by the eases of the parts beside a body's."""
    return lambda eases: extent_over(own, of_eases(ease, eases, whole))(tuning(ease))


def of_eases(ease: float, eases: Eases, whole: Extent) -> tuple[PartTuning, ...]:
    """The tunings of the parts beside a body's; none if all are alike."""
    return part_fitting.settings(ease, eases, whole.parts) if any(eases) else ()


def around(wildest: int, frames: int) -> slice:
    """The frames of a final motion that are tried: all of a short one."""
    if frames <= SHORT:
        return slice(0, frames)
    return slice(max(0, wildest - BEFORE), min(frames, wildest + AFTER + 1))
