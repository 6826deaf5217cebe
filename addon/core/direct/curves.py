"""Curves of direction for the size, the delay and the decay of swings, of the body and of its parts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .oscillator import Oscillator

# Ends of the sliders. Lag in frames.
MOST_EXAGGERATED, MOST_LAG, LEAST_FOLLOW, MOST_FOLLOW = 3.0, 6.0, 0.1, 4.0
# Longest time in which flesh rings out, in seconds and in frames.
RINGING_SECONDS, RINGING_FRAMES = 3.0, 180
# Share of the loudest answer below which nothing is heard.
QUIET = 1e-4


@dataclass(frozen=True)
class Curves:
    """Values in a frame. exaggerate: factor on the displacement. lag: frames by which the flesh is late,
    early if negative. follow: factor on the time in which a swing dies away.
    """

    exaggerate: float = 1.0
    lag: float = 0.0
    follow: float = 1.0

    @property
    def is_neutral(self) -> bool:
        """True if they change nothing."""
        return self == Curves()

    def with_part(self, part: "Curves") -> "Curves":
        """The values of a part of the body."""
        return Curves(self.exaggerate * part.exaggerate, self.lag + part.lag, self.follow * part.follow)


@dataclass(frozen=True, eq=False)
class Region:
    """A part with its curves. shares: (p,) in [0, 1]. lies_over: True for the artist's own part, which
    replaces other parts in its region.
    """

    curves: Curves
    shares: np.ndarray
    lies_over: bool = False


@dataclass(frozen=True, eq=False)
class FrameCurves:
    """Curves of the body and of its parts in a frame."""

    body: Curves = Curves()
    regions: tuple[Region, ...] = ()

    @property
    def is_neutral(self) -> bool:
        """True if they change nothing."""
        return self.body.is_neutral and all(region.curves.is_neutral for region in self.regions)

    @property
    def all(self) -> list[Curves]:
        """The values of body and parts."""
        return [self.body, *(self.body.with_part(region.curves) for region in self.regions)]


def blended(curves: FrameCurves, sample: Callable[[Curves], np.ndarray]) -> np.ndarray:
    """Displacements (p, 3) f64 of a frame. sample: those of the whole body with some curves."""
    whole = sample(curves.body)
    made = whole
    for region in sorted(curves.regions, key=lambda region: region.lies_over):
        if region.curves.is_neutral and not region.lies_over:
            continue
        below = made if region.lies_over else whole
        made = made + region.shares[:, np.newaxis] * (sample(curves.body.with_part(region.curves)) - below)
    return made


def around(time: float) -> Iterator[tuple[int, float]]:
    """The frames beside a time, and their shares."""
    first = int(np.floor(time))
    share = time - first
    yield first, 1.0 - share
    if share > 0.0:
        yield first + 1, share


def ringing(oscillators: Sequence[Oscillator], follow: float, fps: float) -> np.ndarray:
    """Answers (j, o) to a unit change of each swing, in the frames from its end on.

    A motion `x'' + 2 zeta omega x' + omega^2 x = f` with another damping, `zeta / follow`, is `x + e` with
    `e'' + 2 zeta' omega e' + omega^2 e = 2 (zeta - zeta') omega x'`. The answers fade out in the end.
    """
    count = max(2, min(RINGING_FRAMES, round(RINGING_SECONDS * fps)))
    fading = np.cos(0.5 * np.pi * np.clip(2.0 * np.arange(count) / count - 1.0, 0.0, 1.0)) ** 2
    answers = np.empty((count, len(oscillators)))
    for column, each in enumerate(oscillators):
        damped = Oscillator.of(each.omega, each.zeta / follow)
        push = 2.0 * (each.zeta - damped.zeta) * each.omega
        answers[:, column] = push * damped.response(count, 1.0)[:, 0] * fading
    heard = np.flatnonzero(np.abs(answers).max(axis=1) > QUIET * np.abs(answers).max())
    return answers[: heard.max(initial=0) + 1]
