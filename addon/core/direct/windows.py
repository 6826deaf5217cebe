"""Shares of keyed shapes in the frames around their keys."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from .oscillator import Oscillator, around, through


@dataclass(frozen=True)
class Span:
    """Rows of a motion around a key: its own, and how many of the rows before and after it may change.

    swing: 1 lets the flesh swing into and out of the key as it does by itself; 0 eases there and back.
    """

    row: int
    before: int
    after: int
    swing: float = 1.0

    @property
    def ends(self) -> tuple[int, int]:
        """First and last row; both are unchanged."""
        return self.row - max(1, self.before), self.row + max(1, self.after)


@dataclass(frozen=True)
class Window:
    """Keys whose spans meet. keys: their places in the list. first: row. times: of the keys, from there.

    length: rows to the end, which are a whole cycle if the motion repeats there. swing: mean of the keys.
    """

    keys: tuple[int, ...]
    first: int
    times: tuple[int, ...]
    length: int
    is_cycle: bool
    swing: float

    def covers(self, row: int) -> bool:
        """True if the window may change a row."""
        return self.is_cycle or self.first < row < self.first + self.length

    def at(self, row: int, oscillators: Sequence[Oscillator]) -> np.ndarray:
        """Shares (o, k) of the keys in a covered row, a line for each oscillator."""
        calm = (each.calmed(self.swing) for each in oscillators)
        return np.stack(
            [ways(self.times, self.length, self.is_cycle, each)[:, row - self.first] for each in calm]
        )


def windows(spans: Sequence[Span], period: int | None) -> list[Window]:
    """Windows of keys; keys with overlapping spans are solved together, and the motion passes each of them.

    Outside of all spans nothing changes. A periodic motion wraps around.
    """
    if period is None:
        return [window(spans, group) for group in groups(spans)]
    placed = [replace(span, row=span.row % period) for span in spans]
    gap = next((row for row in range(period) if not any(covers(span, row, period) for span in placed)), None)
    if gap is None:
        times = tuple(span.row for span in placed)
        return [Window(tuple(range(len(spans))), 0, times, period, True, mean_swing(placed))]
    # Cut open where no span reaches, and laid around once more.
    turned = [replace(span, row=(span.row - gap) % period + gap) for span in placed]
    found = [window(turned, group) for group in groups(turned)]
    return [*found, *(replace(each, first=each.first - period) for each in found)]


def window(spans: Sequence[Span], keys: list[int]) -> Window:
    """The window of one group."""
    mine = [spans[key] for key in keys]
    first = min(span.ends[0] for span in mine)
    length = max(span.ends[1] for span in mine) - first
    return Window(
        tuple(keys), first, tuple(span.row - first for span in mine), length, False, mean_swing(mine)
    )


def mean_swing(spans: Sequence[Span]) -> float:
    """The swing of keys that are solved together."""
    return sum(span.swing for span in spans) / len(spans)


@lru_cache(maxsize=512)
def ways(times: tuple[int, ...], length: int, is_cycle: bool, of: Oscillator) -> np.ndarray:
    """The ways (k, rows) of an oscillator through keys, 1 at its own time and 0 at the others'."""
    return (around if is_cycle else through)(times, length, of).values


def covers(span: Span, row: int, period: int) -> bool:
    """True if a span changes a row in any round."""
    start, stop = span.ends
    return stop - start > period or 0 < (row - start) % period < stop - start


def groups(spans: Sequence[Span]) -> list[list[int]]:
    """Places of the spans that overlap, directly or through others."""
    found: list[list[int]] = []
    reach = 0
    for key in sorted(range(len(spans)), key=lambda key: spans[key].ends):
        start, stop = spans[key].ends
        if found and start < reach:
            found[-1].append(key)
            reach = max(reach, stop)
        else:
            found.append([key])
            reach = stop
    return found
