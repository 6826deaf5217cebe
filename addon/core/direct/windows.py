"""Shares of keyed shapes in the frames around their keys."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .oscillator import Oscillator, around, through


@dataclass(frozen=True)
class Span:
    """Rows of a motion around a key: its own, and how many of the rows before and after it may change.

    swing: 1 lets the flesh swing into and out of the key as its damping does, 0 not at all.
    """

    row: int
    before: int
    after: int
    swing: float = 1.0

    @property
    def ends(self) -> tuple[int, int]:
        """First and last row; both are unchanged."""
        return self.row - max(1, self.before), self.row + max(1, self.after)


@dataclass(frozen=True, eq=False)
class Window:
    """Keys whose spans meet. keys: their places in the list. first: row. shares: (o, k, rows)."""

    keys: tuple[int, ...]
    first: int
    shares: np.ndarray

    def at(self, row: int) -> np.ndarray | None:
        """Shares (o, k) of the keys in a row, a line for each oscillator; None outside of the spans."""
        at = row - self.first
        return self.shares[:, :, at] if 0 <= at < self.shares.shape[2] else None


def windows(spans: Sequence[Span], oscillators: Sequence[Oscillator], period: int | None) -> list[Window]:
    """Windows of keys; those whose spans overlap are solved together, so that each is passed.

    Outside of all spans nothing changes. A motion that repeats after a period wraps around.
    """
    if period is None:
        return [window(spans, group, oscillators) for group in groups(spans)]
    placed = [replace(span, row=span.row % period) for span in spans]
    gap = next((row for row in range(period) if not any(covers(span, row, period) for span in placed)), None)
    if gap is None:
        rows = [span.row for span in placed]
        plans = [around(rows, period, each) for each in calmed(oscillators, placed)]
        return [Window(tuple(range(len(spans))), 0, np.stack([plan.values for plan in plans]))]
    # Cut open where no span reaches, and laid around once more.
    turned = [replace(span, row=(span.row - gap) % period + gap) for span in placed]
    found = [window(turned, group, oscillators) for group in groups(turned)]
    return [*found, *(Window(each.keys, each.first - period, each.shares) for each in found)]


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


def window(spans: Sequence[Span], keys: list[int], oscillators: Sequence[Oscillator]) -> Window:
    """The window of one group."""
    first = min(spans[key].ends[0] for key in keys)
    length = max(spans[key].ends[1] for key in keys) - first
    rows = [spans[key].row - first for key in keys]
    plans = [through(rows, length, each) for each in calmed(oscillators, [spans[key] for key in keys])]
    shares = np.stack([plan.values for plan in plans])
    shares[:, :, [0, -1]] = 0.0
    return Window(tuple(keys), first, shares)


def calmed(oscillators: Sequence[Oscillator], spans: Sequence[Span]) -> list[Oscillator]:
    """The oscillators with the mean swing of some spans; without any swing they have critical damping."""
    swing = sum(span.swing for span in spans) / len(spans)
    return [each if swing == 1.0 else Oscillator.of(each.omega, each.zeta**swing) for each in oscillators]
