"""Fits flesh to a shot: as soft and as lively as motion and stretch may be within their bounds."""

import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from ..common.task import POLL_SECONDS, Step, scaled
from ..passes.simulation_pass import SimulationPass
from .motion_extent import Extent, Gauge, of_motion

# Frequency of a belly on a person, in Hz, and the softest and firmest that look like flesh.
NATURAL, SOFTEST, FIRMEST = 2.6, 1.3, 80.0
# Smallest and largest share of the rig's acceleration.
CALMED, FREED = 0.35, 2.5
# Share of the ease that comes from the amount, of calm clips and of wild ones. Above its frequency flesh
# stays behind all that it feels of the rig: more force than the rig's would shake it, softness does not.
FORCED, HELD = 0.15, 0.65
# Frequency from which on calmed flesh moves less than the firmest under all of the acceleration would.
FLAPPING = FIRMEST * CALMED**0.5
# Motion of the softest flesh below this share of the size counts as none.
STILL = 1e-4
# Slope of the nearest bound's used share against the ease, on a log scale: 1 without limits and far from
# resonance, less where limits hold the flesh.
SLOPE, FLATTEST, STEEPEST = 0.35, 0.25, 2.0
# Largest number of tried tunings.
TRIES = 6
# Slope below which firmer flesh stretches no less: then the rig stretches it.
HELPLESS = 0.1
# Shares of what is beyond the bounds without limits that firmer flesh must take away.
HELD_SIZE, HELD_STRAIN = 0.8, 0.5
# Largest step of the ease.
LEAP = 2.5
# Largest number of evaluated frames, evenly chosen.
FRAMES = 60
# Tolerance of the motion against its bounds, as a ratio.
NEAR = 1.05
# Largest ratio of the extent of a final motion to that of its rehearsal.
REHEARSED = 1.03
# Share of Maximum Stretch that all but a thousandth of the edges keep below in the wildest frame; with both
# tolerances it is the whole.
STRETCHED = 1.0 / (NEAR * REHEARSED)

# Finds the extent of a motion.
Measuring = Generator[Step, None, Extent]


class Reason(Enum):
    """The reason for the softness of a body or a part, as the end of a sentence."""

    AMPLITUDE = "Target Amplitude allows no more"
    STRETCH = "softer, it would stretch too far"
    SOFTEST = "softer, it would swim"
    FIRMEST = "no flesh is firmer"
    STILL = "nothing moves it in these frames"
    RIG = "the rig itself stretches it at any firmness"
    THIN = "its layer is too thin for more"
    BODY = "the body as a whole allows no more"


@dataclass(frozen=True)
class Bounds:
    """Bounds of a motion. size: share of the diagonal. strain: share of a length, or None."""

    size: float
    strain: float | None = None

    def used(self, extent: Extent) -> tuple[float, Reason]:
        """The used share of the nearest bound, and the bound's name."""
        size = extent.size / self.size
        strain = 0.0 if self.strain is None else extent.strain / self.strain
        return (strain, Reason.STRETCH) if strain > size else (size, Reason.AMPLITUDE)


@dataclass(frozen=True)
class Tuning:
    """Frequency of the flesh in Hz, and its share of the rig's acceleration."""

    frequency: float
    amount: float


def tuning(ease: float) -> Tuning:
    """The tuning whose free motion is `exp(ease)` times that of natural flesh.

    A part of it, on a log scale, comes from the amount and the rest from the frequency, until either ends at
    its bounds: calm clips move visibly without swimming, and wild ones without becoming wood.
    """
    free = float(np.exp(ease))
    amount = np.clip(free ** (FORCED if ease > 0.0 else HELD), CALMED, FREED)
    frequency = float(np.clip(NATURAL * (free / amount) ** -0.5, SOFTEST, FIRMEST))
    return Tuning(frequency, float(np.clip(free * (frequency / NATURAL) ** 2, CALMED, FREED)))


# Eases of the softest and of the firmest tuning.
EASIEST = float(2.0 * np.log(NATURAL / SOFTEST) + np.log(FREED))
HARDEST = float(2.0 * np.log(NATURAL / FIRMEST) + np.log(CALMED))


def limited(ease: float) -> float:
    """The nearest ease that a tuning reaches."""
    return float(np.clip(ease, HARDEST, EASIEST))


@dataclass(frozen=True)
class Fitted:
    """The fitted ease, None without motion; its motion, and the reason for it.

    parts: softness and amount of each measured part beside the body's; empty if all are alike. eases: of the
    parts beside the body's, likewise.
    """

    ease: float | None
    extent: Extent
    reason: Reason
    parts: tuple[tuple[float, float], ...] = ()
    eases: tuple[float, ...] = ()

    @property
    def tuning(self) -> Tuning | None:
        """The tuning of the ease."""
        return None if self.ease is None else tuning(self.ease)


def extent_of(rehearsal: SimulationPass, gauge: Gauge, part: float = 1.0) -> Measuring:
    """The extent of the motion over the drives of a pass, measured during the simulation.

    part: share of the whole shot in these frames.
    """
    frames, done = len(rehearsal.drives), 0
    every = -(-frames // FRAMES)
    extents: list[Extent] = []
    with closing(rehearsal):
        while done < frames:
            if not rehearsal.collect():
                time.sleep(POLL_SECONDS)
                yield Step(done / frames, "Fitting")
            for coefficients in rehearsal.cache.coefficients[done:]:
                if done % every == 0:
                    extents.append(gauge.of_frame(done, coefficients))
                done += 1
                yield Step(done / frames, "Fitting")
    extent = of_motion(extents, part)
    return replace(extent, wildest=every * extent.wildest)


def fitted(
    extent_at: Callable[[Tuning], Measuring],
    bounds: Bounds,
    start: float = 0.0,
    tries: int = TRIES,
    most: float = EASIEST,
    known: Extent | None = None,
    enough: float = 1.0 / NEAR,
) -> Generator[Step, None, Fitted]:
    """The easiest tuning with a motion within its bounds.

    A secant method on log scales, for the nearest bound. extent_at: extent with a tuning. start: first ease.
    tries: most tunings that are tried. most: largest ease. known: extent at the first ease, if measured.
    enough: smallest used share of the nearest bound that ends the search.
    """
    ease, extent = start, known or (yield from one_of_all(extent_at(tuning(start)), 0, tries))
    if is_still(extent, start):
        return Fitted(None, extent, Reason.STILL)
    first, best, slope = extent, None, SLOPE
    for number in range(1 if known is None else 0, tries):
        used, _ = bounds.used(extent)
        if used < NEAR and (best is None or ease > best[0]):
            best = ease, extent
        following = min(nearer(ease, used, slope), most)
        if enough < used < NEAR or following == ease:
            break
        extent = yield from one_of_all(extent_at(tuning(following)), number, tries)
        after = max(bounds.used(extent)[0], STILL)
        slope = float(np.clip(np.log(after / used) / (following - ease), FLATTEST, STEEPEST))
        ease = following
    if bounds.used(extent)[0] >= NEAR and best is not None:
        ease, extent = best
    eased = np.log(bounds.used(first)[0] / max(bounds.used(extent)[0], STILL))
    if bounds.used(extent)[0] >= NEAR and ease < start and eased < HELPLESS * (start - ease):
        return Fitted(start, first, Reason.RIG)
    return Fitted(ease, extent, reason_of(ease, *bounds.used(extent)))


def is_still(extent: Extent, ease: float) -> bool:
    """True if even the softest flesh would not move visibly. extent: at this ease."""
    return extent.size * np.exp(EASIEST - ease) < STILL


def begun(extent: Extent, bounds: Bounds) -> float:
    """A first ease, from the extent of natural flesh without limits.

    Limits hold much of what is too far, and more of what stretches too far, on a log scale. Flesh far beyond
    them takes long to simulate.
    """
    size = HELD_SIZE * np.log(max(extent.size / bounds.size, 1.0))
    strain = 0.0 if bounds.strain is None else HELD_STRAIN * np.log(max(extent.strain / bounds.strain, 1.0))
    return max(HARDEST, -float(max(size, strain)))


def nearer(ease: float, used: float, slope: float = SLOPE) -> float:
    """An ease nearer to the bound of which this ease uses a share, by the share's slope on log scales."""
    return limited(ease + float(np.clip(-np.log(max(used, STILL)) / slope, -LEAP, LEAP)))


def growth(ease: float, extent: Extent, bounds: Bounds) -> float:
    """Factor by which a motion with this extent would grow if its size alone were bounded."""
    return float(min(bounds.size / max(extent.size, STILL), np.exp(SLOPE * (EASIEST - ease))))


def reason_of(ease: float, used: float, nearest: Reason) -> Reason:
    """The reason for an ease with this used share of the nearest bound."""
    if ease == EASIEST and used < 1.0:
        return Reason.SOFTEST
    return Reason.FIRMEST if ease == HARDEST and used > 1.0 else nearest


def one_of_all(extent: Measuring, number: int, tries: int) -> Measuring:
    """The share of one try in the total progress."""
    return scaled(extent, number / tries, (number + 1) / tries)
