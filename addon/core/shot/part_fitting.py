"""Fits the parts of a body to a shot, each beside the whole body and within bounds of its own.

One wild part then stiffens no other, and a calm one is woken.
"""

from collections.abc import Callable, Generator
from dataclasses import replace

import numpy as np

from ..common.task import Step
from ..rig.part_settings import MOST_AMOUNT
from .fitting import NEAR, STILL, Bounds, Measuring, limited, one_of_all, tuning
from .motion_extent import Extent

# Eases of the parts beside the whole body's.
Eases = tuple[float, ...]

# Slopes of a part's used share against its ease, on a log scale, for more motion and for less. Limits hold
# wild flesh, and calming it takes more.
SLOPE, STEEP = 0.6, 0.35
# Largest step of an ease, and smallest one that is worth a try.
LEAP, WORTH = 1.5, 0.15
# Smallest and largest ease beside the body's: little flesh stays little, however lively it is.
HARDER, EASIER = -2.0, 2.0
# Largest number of tries.
TRIES = 2


def setting(ease: float, own: float) -> tuple[float, float]:
    """Softness and amount of a part whose ease is greater than the body's `ease` by `own`.

    In single precision, as a file keeps them: a build is known by their bits.
    """
    body, part = tuning(ease), tuning(limited(ease + own))
    amount = np.float32(min(MOST_AMOUNT, part.amount / body.amount))
    return float(np.float32(np.exp(limited(ease + own) - ease) / amount)), float(amount)


def fitted(
    ease: float, whole: Extent, extent_at: Callable[[Eases], Measuring], bounds: Bounds
) -> Generator[Step, None, tuple[Eases, Extent]]:
    """The eases of the parts whose motion is nearest to their bounds, within those of the body; its extent.

    ease: of the body. whole: its extent with all parts alike. extent_at: extent with eases of the parts.
    """
    eases = np.zeros(len(whole.parts))
    best, extent = (tuple(eases.tolist()), whole), whole
    for number in range(TRIES):
        missing = -np.log(shares(extent, bounds))
        leaps = np.clip(missing / np.where(missing > 0.0, SLOPE, STEEP), -LEAP, LEAP)
        own = np.clip(eases + leaps, HARDER, EASIER)
        following = np.array([limited(ease + each) - ease for each in own])
        if np.abs(following - eases).max(initial=0.0) < WORTH:
            break
        eases = following
        extent = yield from one_of_all(extent_at(tuple(eases.tolist())), number, TRIES)
        is_wild = bounds.used(best[1])[0] >= NEAR
        if bounds.used(extent)[0] < NEAR and (is_wild or misfit(extent, bounds) < misfit(best[1], bounds)):
            best = tuple(eases.tolist()), extent
    return best


def shares(extent: Extent, bounds: Bounds) -> np.ndarray:
    """The used share of the nearest bound of each part.

    The part that stretches most uses as much as all together, and twice as much of what is too much.
    """
    widest = max([part.strain for part in extent.parts], default=0.0)
    together = max(1.0, extent.strain / max(widest, STILL))
    own = (replace(part, strain=part.strain * together) for part in extent.parts)
    too_much = max(1.0, bounds.used(extent)[0])
    return np.array([max(too_much * bounds.used(part)[0], STILL) for part in own])


def misfit(extent: Extent, bounds: Bounds) -> float:
    """Sum of the ratios, on a log scale, by which the parts miss their nearest bounds."""
    return float(np.abs(np.log(shares(extent, bounds))).sum())
