"""Fits the parts of a body to a shot, each beside the whole body and within bounds of its own.

One wild part then stiffens no other, and a calm one is woken.
"""

from collections.abc import Callable, Generator
from dataclasses import replace

import numpy as np

from ..common.task import Step, scaled
from ..rig.part_settings import MOST_AMOUNT
from .fitting import (
    EASIEST,
    HARDEST,
    HELD,
    NEAR,
    STILL,
    Bounds,
    Fitted,
    Measuring,
    Reason,
    limited,
    one_of_all,
    tuning,
)
from .motion_extent import Extent

# Eases of the parts beside the whole body's.
Eases = tuple[float, ...]
# Softness and amount of a part, as factors on the body's.
PartTuning = tuple[float, float]

# Slope of a part's used share against its ease, on a log scale: limits and the flesh around hold it. The
# motion of hanging parts is freer.
SLOPE, FREE_SLOPE = 0.4, 0.7
# Largest step of an ease; largest one against stretch, since skin turns over all at once and its strain tells
# little of the firmness to come; smallest one that is worth a try.
LEAP, CALMING, WORTH = 1.5, 0.75, 0.15
# Smallest and largest ease beside the body's: little flesh stays little, however lively it is. Smallest one
# of a hanging part, so that the body is not calmed for a fin.
HARDER, EASIER, CALMEST = -3.0, 2.0, -5.0
# Used share of its bound up to which a hanging part needs no further try.
LOOSE = 1.25
# Largest number of tries.
TRIES = 4
# Difference of eases that is none.
ROUNDING = 1e-9


def settings(ease: float, eases: Eases, parts: tuple[Extent, ...]) -> tuple[PartTuning, ...]:
    """The setting of each part."""
    return tuple(setting(ease, own, part.hangs) for own, part in zip(eases, parts, strict=True))


def setting(ease: float, own: float, hangs: bool = False) -> PartTuning:
    """Softness and amount of a part whose ease is greater than the body's `ease` by `own`.

    The amount of hanging parts has no least value: a thin fin sweeps nearly as far in firmer flesh. In
    single precision, as a file keeps them: a build is known by their bits.
    """
    if hangs and own < 0.0:
        amount = np.float32(np.exp(HELD * own))
        return float(np.float32(np.exp(own) / amount)), float(amount)
    body, part = tuning(ease), tuning(limited(ease + own))
    amount = np.float32(min(MOST_AMOUNT, part.amount / body.amount))
    return float(np.float32(np.exp(limited(ease + own) - ease) / amount)), float(amount)


def fitted(
    ease: float, whole: Extent, extent_at: Callable[[Eases], Measuring], bounds: Bounds
) -> Generator[Step, None, tuple[Eases, Extent]]:
    """The eases of the parts whose motion is nearest to their bounds, within those of the body; its extent.

    All parts are fitted at once; then those too wild are calmed. ease: of the body. whole: its extent with
    all parts alike. extent_at: extent with eases of the parts.
    """
    alike = (0.0,) * len(whole.parts)
    eases = following(ease, alike, whole, bounds)
    if not worth(eases, alike):
        return alike, whole
    extent = yield from one_of_all(extent_at(eases), 0, TRIES)
    eases, extent = yield from scaled(calmed(ease, (eases, extent), extent_at, bounds), 1 / TRIES, 1.0)
    if used(whole, bounds) >= NEAR:
        return eases, extent
    is_better = used(extent, bounds) < NEAR and misfit(extent, bounds) < misfit(whole, bounds)
    return (eases, extent) if is_better else (alike, whole)


def calmed(
    ease: float, known: tuple[Eases, Extent], extent_at: Callable[[Eases], Measuring], bounds: Bounds
) -> Generator[Step, None, tuple[Eases, Extent]]:
    """Eases of the parts that keep the body within its bounds, from known ones that may not."""
    eases, extent = known
    for number in range(1, TRIES):
        firmer = calmer(ease, eases, extent, bounds)
        if used(extent, bounds) < NEAR or firmer == eases:
            break
        eases = firmer
        extent = yield from one_of_all(extent_at(eases), number - 1, TRIES - 1)
    return eases, extent


def calmer(ease: float, eases: Eases, extent: Extent, bounds: Bounds) -> Eases:
    """Smaller eases for a body, or for hanging parts, beyond their bounds.

    Those of parts that are too wild alone. If parts stretch too far only together, those that are easier than
    the body go half back, which spares the ones that were wild before. Otherwise those of all wild parts.
    """
    nearest = [bounds.used(part)[1] for part in together(extent)]
    least = np.array(eases) - np.where([each is Reason.STRETCH for each in nearest], CALMING, LEAP)
    alone = replace(extent, strain=widest(extent))
    if bounds.used(extent)[0] < NEAR:
        # Then the wild ones hang, and no other is touched.
        least = np.where([part.hangs for part in extent.parts], least, eases)
    firmer = tuple(np.clip(following(ease, eases, alone, bounds), least, eases).tolist())
    if used(alone, bounds) < NEAR:
        firmer = tuple(min(each, max(0.5 * each, 0.0)) for each in firmer)
    if worth(firmer, eases):
        return firmer
    return tuple(np.clip(following(ease, eases, extent, bounds), least, eases).tolist())


def following(ease: float, eases: Eases, extent: Extent, bounds: Bounds) -> Eases:
    """Eases of the parts with which they would reach their bounds, from their extent with other ones."""
    nearest = [bounds.used(part)[1] for part in extent.parts]
    is_free = [
        part.hangs and bound is Reason.AMPLITUDE for part, bound in zip(extent.parts, nearest, strict=True)
    ]
    slopes = np.where(is_free, FREE_SLOPE, SLOPE)
    leaps = np.clip(-np.log(shares(extent, bounds)) / slopes, HARDER, LEAP)
    least = [hardest(ease, part) for part in extent.parts]
    return tuple(np.clip(np.array(eases) + leaps, least, min(EASIER, EASIEST - ease)).tolist())


def hardest(ease: float, part: Extent) -> float:
    """The smallest ease of a part beside the body's `ease`."""
    return CALMEST if part.hangs else max(HARDER, HARDEST - ease)


def reasons(found: Fitted, bounds: Bounds) -> tuple[Reason, ...]:
    """The reason for the softness of each measured part of a fitted body."""
    if found.ease is None or found.reason is Reason.RIG:
        return (found.reason,) * len(found.extent.parts)
    eases = found.eases or (0.0,) * len(found.extent.parts)
    parts = zip(eases, found.extent.parts, together(found.extent), strict=True)
    return tuple(part_reason(found.ease, own, part, bounds.used(beside)) for own, part, beside in parts)


def part_reason(ease: float, own: float, part: Extent, nearest: tuple[float, Reason]) -> Reason:
    """The reason for the ease of a part beside the body's.

    nearest: used share of its nearest bound, and the bound's name.
    """
    share, bound = nearest
    if part.size < STILL:
        return Reason.STILL
    if share < 1.0 / NEAR:
        if own >= EASIER or ease + own >= EASIEST - ROUNDING:
            return Reason.SOFTEST
        return Reason.THIN if part.thin else Reason.BODY
    is_firmest = own <= hardest(ease, part) + ROUNDING
    return Reason.FIRMEST if share > NEAR and is_firmest else bound


def used(extent: Extent, bounds: Bounds) -> float:
    """The used share of the nearest bound of a body and, loosely, of the parts that hang on it."""
    return bounds.used(with_hanging(extent))[0]


def with_hanging(extent: Extent) -> Extent:
    """An extent in which the parts that hang on the body count nearly as much as the body."""
    hanging = [part for part in extent.parts if part.hangs]
    size = max([extent.size, *(part.size / LOOSE for part in hanging)])
    return replace(extent, size=size, strain=max([extent.strain, *(part.strain for part in hanging)]))


def widest(extent: Extent) -> float:
    """The largest strain of a part."""
    return max((part.strain for part in extent.parts), default=0.0)


def worth(eases: Eases, others: Eases) -> bool:
    """True if eases differ enough from others for a try."""
    return max((abs(a - b) for a, b in zip(eases, others, strict=True)), default=0.0) >= WORTH


def shares(extent: Extent, bounds: Bounds) -> np.ndarray:
    """The used share of the nearest bound of each part. One in a thin layer has no room to be woken."""
    own = together(extent)
    return np.array([max(bounds.used(part)[0], 1.0 if part.thin else STILL) for part in own])


def together(extent: Extent) -> list[Extent]:
    """Extents of the parts, scaled so that the largest strain is that of all together."""
    factor = max(1.0, extent.strain / max(widest(extent), STILL))
    return [replace(part, strain=part.strain * factor) for part in extent.parts]


def misfit(extent: Extent, bounds: Bounds) -> float:
    """Sum of the ratios, on a log scale, by which the parts miss their nearest bounds; those beyond twice."""
    missed = np.log(shares(extent, bounds))
    return float((np.abs(missed) + np.maximum(missed, 0.0)).sum())
