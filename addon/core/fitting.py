"""Fits the softest frequency at which a shot keeps motion and stretch of the flesh within their bounds."""

import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from enum import Enum

import numpy as np

from .motion_extent import Extent, Gauge, of_motion
from .simulation_pass import SimulationPass
from .task import POLL_SECONDS, Step, scaled

# In Hz: start of the search, and the softest and firmest frequency that looks like flesh.
FIRST, SOFTEST, FIRMEST = 5.0, 1.5, 80.0
# Motion below this share of the size counts as none.
STILL = 1e-4
# Slope of motion against frequency on log scales, for motion slow relative to the frequency.
SLOPE = -2.0
STEEPEST, FLATTEST = -4.0, -0.5
# After the first.
TRIES = 6
# Largest number of evaluated frames, evenly chosen.
FRAMES = 60
# Tolerance of the motion against its bounds, as a ratio.
NEAR = 1.05
# Share of Maximum Stretch allowed in a rehearsal without limits. With limits the stretch is then below 0.4 in
# the wildest frame at the default of 0.6, on sixteen of twenty characters.
STRETCHED = 0.8

# Finds the extent of a motion.
Measuring = Generator[Step, None, Extent]


class Reason(Enum):
    """The reason for a frequency, as the end of a sentence."""

    AMPLITUDE = "the target amplitude asks"
    STRETCH = "softer flesh would stretch too far"
    SOFTEST = "softer flesh would swim"
    FIRMEST = "no flesh is firmer"
    STILL = "nothing moves it in these frames"


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
class Fitted:
    """The fitted frequency, in Hz, None without motion; its motion, and the reason for it."""

    frequency: float | None
    extent: Extent
    reason: Reason


def extent_of(rehearsal: SimulationPass, gauge: Gauge) -> Measuring:
    """The extent of the motion over the drives of a pass, measured during the simulation."""
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
    return of_motion(extents)


def fitted(extent_at: Callable[[float], Measuring], bounds: Bounds) -> Generator[Step, None, Fitted]:
    """The softest frequency, between `SOFTEST` and `FIRMEST`, with a motion within its bounds.

    A secant method on log scales, for the nearest bound. extent_at: extent at a frequency in Hz.
    """
    frequency, extent = FIRST, (yield from one_of_all(extent_at(FIRST), 0))
    if extent.size < STILL:
        return Fitted(None, extent, Reason.STILL)
    slope = SLOPE
    for number in range(1, TRIES + 1):
        used, _ = bounds.used(extent)
        following = float(np.clip(frequency * used ** (-1.0 / slope), SOFTEST, FIRMEST))
        if max(used, 1.0 / used) < NEAR or following == frequency:
            break
        extent = yield from one_of_all(extent_at(following), number)
        after = max(bounds.used(extent)[0], STILL)
        slope = float(np.clip(np.log(after / used) / np.log(following / frequency), STEEPEST, FLATTEST))
        frequency = following
    return Fitted(frequency, extent, reason_of(frequency, *bounds.used(extent)))


def reason_of(frequency: float, used: float, nearest: Reason) -> Reason:
    """The reason for a frequency with this used share of the nearest bound."""
    if frequency == SOFTEST and used < 1.0:
        return Reason.SOFTEST
    return Reason.FIRMEST if frequency == FIRMEST and used > 1.0 else nearest


def one_of_all(extent: Measuring, number: int) -> Measuring:
    """The share of one attempt in the total progress."""
    return scaled(extent, number / (TRIES + 1), (number + 1) / (TRIES + 1))
