"""Directed motion: displacements of a clip with curves and keyed shapes, a pure function of its frames.

The simulation is not touched. In the space of the rest pose, the motion of the curves is
`d = sum of parts w e D(t - lag)`, with D ringing out longer or shorter, and the keys add
`sum c_k(t) (s_k - d(t_k))`, split into the swings of the flesh, each with its own least-effort share c_k.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import jounce
import numpy as np

from ..body.full_space import Shaper, shaped
from ..mesh.surface import Surface
from . import pose_space
from .curves import Curves, FrameCurves, around, blended, ringing
from .oscillator import Oscillator
from .windows import Span, windows

# Memory for displacements of frames, in bytes.
REMEMBERED = 256_000_000


@dataclass(frozen=True, eq=False)
class Swings:
    """The swings of the flesh. shapes: (o, p, 3), modes at the vertices. oscillators: of each, and the last
    for what the modes miss. flesh: (p,) in [0, 1], 0 where the rig alone moves a vertex. fps: frames a
    second.
    """

    shapes: np.ndarray
    oscillators: tuple[Oscillator, ...]
    flesh: np.ndarray
    fps: float

    def kept(self, offsets: np.ndarray) -> np.ndarray:
        """Offsets (p, 3), zero where nothing but the rig moves a vertex."""
        return np.where(self.flesh[:, np.newaxis] > 0.0, offsets, 0.0)

    def amounts(self, offsets: np.ndarray) -> np.ndarray:
        """Amounts (o,) of the modes in offsets (p, 3), by least squares."""
        return self._projector @ offsets.ravel()

    def with_rest(self, amounts: list[np.ndarray]) -> tuple[Oscillator, ...]:
        """The oscillators for some changes: the part beyond the modes moves with the part in the modes.

        The frequency is the root mean square of the modes' frequencies, weighted by their parts in the
        changes.
        """
        parts = (np.array(amounts) ** 2).sum(axis=0) * self._sizes
        if not parts.sum() > 0.0:
            return self.oscillators
        squares = np.array([each.omega**2 for each in self.oscillators[:-1]])
        omega = float(np.sqrt(parts @ squares / parts.sum()))
        return (*self.oscillators[:-1], Oscillator.of(omega, self.oscillators[-1].zeta))

    @cached_property
    def _sizes(self) -> np.ndarray:
        return (self.shapes**2).sum(axis=(1, 2))

    @cached_property
    def _projector(self) -> np.ndarray:
        flat = self.shapes.reshape(len(self.shapes), -1)
        return np.linalg.lstsq(flat @ flat.T, flat, rcond=1e-10)[0] if len(flat) else flat

    def summed(self, amounts: np.ndarray) -> np.ndarray:
        """Offsets (p, 3) of amounts (o,)."""
        return np.tensordot(amounts, self.shapes, axes=1)


@dataclass(frozen=True, eq=False)
class ShapeKey:
    """A keyed shape. offsets: (p, 3), metres in the rest pose. scale: factor on the change."""

    span: Span
    offsets: np.ndarray
    scale: float = 1.0


@dataclass(frozen=True, eq=False)
class Clip:
    """The frames of a motion as far as they are there, a row each.

    shown: coefficients of a row, and their owner. pose: (b, 3, 4) of a row. starts: rows at which a motion
    starts anew. held: rows with held flesh, which nothing directs. period: rows of a loop, None without one.
    """

    count: int
    shown: Callable[[int], tuple[np.ndarray, Shaper]]
    pose: Callable[[int], np.ndarray]
    starts: frozenset[int] = frozenset()
    held: frozenset[int] = frozenset()
    period: int | None = None

    def same(self, row: int) -> int:
        """The row of the first round of a loop that shows the same as a row."""
        return row if self.period is None else row % self.period

    def take(self, row: int) -> range:
        """The rows around a row without a start between them."""
        if self.period is not None:
            return range(min(self.count, self.period))
        cuts = {*self.starts, *self.held, *(held + 1 for held in self.held)}
        first = max((cut for cut in cuts if cut <= row), default=0)
        return range(first, min((cut for cut in cuts if cut > row), default=self.count))

    def nearest(self, row: int, take: range) -> int:
        """A row of a take, the nearest to a row that may be outside; a loop wraps around."""
        return min(max(self.same(row), take.start), take.stop - 1)


@dataclass
class Director:
    """Directed displacements of a body. Stored data change no bit of the result."""

    surface: Surface
    swings: Swings
    _offsets: dict[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    _amounts: dict[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def directed(
        self, clip: Clip, row: int, keys: list[ShapeKey], at: Callable[[int], FrameCurves]
    ) -> np.ndarray | None:
        """World displacements (p, 3) f32 of a row, metres; None where direction changes nothing.

        at: curves of a row.
        """
        if row in clip.held:
            return None
        row, own = clip.same(row), at(row)
        pull = self._pull(clip, row, keys, at)
        if own.is_neutral and pull is None:
            return None
        before = self._read(clip, row).astype(np.float64)
        after = before if own.is_neutral else self._curved(clip, row, own)
        after = after if pull is None else after + pull
        change = self.swings.kept(after - before)
        world = shaped_row(clip, row).astype(np.float64)
        world += pose_space.posed(pose_space.linear(self.surface, clip.pose(row)), change)
        return world.astype(np.float32)

    def offsets_of(self, world: np.ndarray, pose: np.ndarray) -> np.ndarray:
        """Offsets (p, 3) in the rest pose of world displacements in a pose, metres."""
        maps = pose_space.linear(self.surface, pose)
        return self.swings.kept(jounce.pull_back(world.astype(np.float64), maps))

    def _read(self, clip: Clip, row: int) -> np.ndarray:
        """Offsets (p, 3) f32 of a row in the rest pose."""
        coefficients, _ = clip.shown(row)
        known = self._offsets.get(row)
        if known is not None and known[0] is coefficients:
            return known[1]
        maps = pose_space.linear(self.surface, clip.pose(row))
        offsets = jounce.pull_back(shaped_row(clip, row).astype(np.float64), maps)
        while len(self._offsets) * offsets.nbytes > REMEMBERED:
            del self._offsets[next(iter(self._offsets))]
        self._offsets.pop(row, None)
        self._offsets[row] = coefficients, offsets
        return offsets

    def _swung(self, clip: Clip, row: int) -> np.ndarray:
        """Amounts (o,) of the modes in a row."""
        coefficients, _ = clip.shown(row)
        known = self._amounts.get(row)
        if known is None or known[0] is not coefficients:
            known = self._amounts[row] = coefficients, self.swings.amounts(self._read(clip, row))
        return known[1]

    def _curved(self, clip: Clip, row: int, curves: FrameCurves) -> np.ndarray:
        """Offsets (p, 3) of a row with its curves."""
        take = clip.take(row)

        def sample(own: Curves) -> np.ndarray:
            parts = [
                share * self._ringing(clip, clip.nearest(near, take), take, own.follow)
                for near, share in around(row - own.lag)
            ]
            return own.exaggerate * np.sum(parts, axis=0)

        return blended(curves, sample)

    def _ringing(self, clip: Clip, row: int, take: range, follow: float) -> np.ndarray:
        """Offsets (p, 3) of a row with another time to ring out."""
        offsets = self._read(clip, row).astype(np.float64)
        if follow == 1.0:
            return offsets
        # By places instead of changes: `sum k_j (x_j - x_(j + 1)) = sum (k_j - k_(j - 1)) x_j`.
        answers = ringing(self.swings.oscillators, follow, self.swings.fps)
        answers = np.diff(answers, axis=0, prepend=0.0, append=0.0)
        amounts = np.zeros(len(self.swings.shapes))
        for back, answer in enumerate(answers):
            earlier = clip.nearest(row - back, take)
            offsets += answer[-1] * self._read(clip, earlier)
            amounts += (answer[:-1] - answer[-1]) * self._swung(clip, earlier)
        return offsets + self.swings.summed(amounts)

    def _pull(
        self, clip: Clip, row: int, keys: list[ShapeKey], at: Callable[[int], FrameCurves]
    ) -> np.ndarray | None:
        """Offsets (p, 3) from the motion to its keys; None outside of all spans."""
        take = clip.take(row)
        known = {clip.same(key.span.row): key for key in keys}
        mine = [key for place, key in known.items() if place in take and place not in clip.held]
        pull = None
        for window in windows([key.span for key in mine], clip.period):
            if window.covers(row):
                gaps = [self._gap(clip, mine[place], at) for place in window.keys]
                amounts = [self.swings.amounts(gap) for gap in gaps]
                shares = window.at(row, self.swings.with_rest(amounts))
                added = self._shared(gaps, amounts, shares)
                pull = added if pull is None else pull + added
        return pull

    def _gap(self, clip: Clip, key: ShapeKey, at: Callable[[int], FrameCurves]) -> np.ndarray:
        """Change by a key in its own row, (p, 3)."""
        row = clip.same(key.span.row)
        curves = at(row)
        moves = self._read(clip, row) if curves.is_neutral else self._curved(clip, row, curves)
        return self.swings.kept(key.scale * (key.offsets - moves))

    def _shared(self, gaps: list[np.ndarray], amounts: list[np.ndarray], shares: np.ndarray) -> np.ndarray:
        """The sum of changes (p, 3) with each of their swings by its own share, (o + 1, k)."""
        rest = np.tensordot(shares[-1], np.array(gaps), axes=1)
        return rest + self.swings.summed(((shares[:-1] - shares[-1]) * np.array(amounts).T).sum(axis=1))


def shaped_row(clip: Clip, row: int) -> np.ndarray:
    """World displacements (p, 3) f32 of a row before it is directed."""
    coefficients, shaper = clip.shown(row)
    return shaped(shaper, coefficients)
