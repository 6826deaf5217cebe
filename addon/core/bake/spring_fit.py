"""Fits spring bones to the flesh: one spring after the other, each where most motion is left.

For given parameters the shares s of the vertices follow in closed form: with the remaining motion d of a
vertex in the axes of the bone, and its motion q under the spring,

    s = min(max(sum_f d q / sum_f q q, 0), w), w: the weight that is left on the bone.

The parameters are drawn at random around the best ones of the draws before (the cross-entropy method).
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from ..common.task import Step, scaled
from .springs import NONE, STEP, Clip, Springs, added, joined, turned

# Draws of parameters: number, kept as the best, and rounds; rounds of a second look at a spring.
DRAWN, BEST, ROUNDS, AGAIN = 64, 8, 14, 5
# Means and spreads of draws: axis, logarithms of arm / size, length / arm and Hz, logit of the drag,
# logarithm of gravity / length.
MEANS = np.array([0.0, 0.0, 1.0, 0.7, 0.0, 1.0, -2.0, 0.0])
SPREADS = np.array([1.0, 1.0, 1.0, 0.8, 0.6, 0.7, 1.0, 1.0])
# Bounds of the logarithms of arm / size and length / arm, of two fits: with tails in the flesh, which then
# feel its motion, and with tails anywhere. Some motion takes one, some the other.
Reach = tuple[tuple[float, float], tuple[float, float]]
REACHES: tuple[Reach, ...] = (((-1.0, 1.0), (-0.7, 0.3)), ((-9.0, 9.0), (-9.0, 9.0)))
# Spread of a second look, as a share of the first.
NEAR = 0.2
# Shapes of the motion of a bone, and most vertices, for a draw.
SHAPES, SAMPLES = 16, 400
# Cosine of the farthest swing: beyond, tiny differences between programs grow.
FARTHEST = 0.5
# Least share of a vertex; least gain of a spring, and least motion of a bone, as shares of what there is.
LEAST_SHARE, LEAST_GAIN, LEAST_MOTION = 0.02, 0.03, 0.002


@dataclass(frozen=True)
class Fit:
    """Springs with the shares (p, k) of the vertices.

    error: missed share of the unseen motion of all moved vertices. errors: of those of a bone, by bone.
    unfair: of bones whose springs were left out.
    """

    springs: Springs
    shares: np.ndarray
    error: float
    errors: dict[int, float]
    unfair: dict[int, float]


class Site:
    """The remaining motion of vertices of a bone. rows: (q,), of the vertices. room: (p, b), weights left."""

    def __init__(
        self,
        clips: Sequence[Clip],
        points: np.ndarray,
        room: np.ndarray,
        bone: int,
        rows: np.ndarray,
        reach: Reach,
    ) -> None:
        self.bone, self.rows, self._clips, self._reach = bone, rows, clips, reach
        self._room, self._points = room[rows, bone], points[rows]
        pulled = [np.einsum("fji,fpj->fpi", clip.turns[:, bone], clip.motion[:, rows]) for clip in clips]
        flat = np.concatenate(pulled).reshape(sum(len(each) for each in pulled), -1)
        heavy = self._room * np.sum(flat.reshape(len(flat), -1, 3) ** 2, axis=(0, 2))
        whole = max(float(heavy.sum()), np.finfo(float).tiny)
        self._centre = heavy @ self._points / whole
        self._size = np.sqrt(heavy @ np.sum((self._points - self._centre) ** 2, axis=1) / whole)
        weighted = flat * np.repeat(np.sqrt(self._room), 3)
        self._times = np.linalg.eigh(weighted @ weighted.T)[1][:, ::-1][:, :SHAPES]
        self._shapes = (self._times.T @ flat).reshape(-1, len(rows), 3)

    def drawn(self, draws: np.ndarray, has_gravity: bool) -> Springs:
        """The springs of draws (c, 8)."""
        axes = draws[:, :3] / np.linalg.norm(draws[:, :3], axis=1, keepdims=True)
        arms = self._size * np.exp(np.clip(draws[:, 3], *self._reach[0]))
        lengths = arms * np.exp(np.clip(draws[:, 4], *self._reach[1]))
        rates = 2.0 * np.pi * np.exp(draws[:, 5])
        gravity = lengths * np.exp(draws[:, 7]) if has_gravity else np.zeros(len(draws))
        bones, pivots = np.full(len(draws), self.bone), self._centre - arms[:, None] * axes
        drags = 1.0 / (1.0 + np.exp(-draws[:, 6]))
        return Springs(bones, pivots, axes, lengths, lengths * rates**2 * STEP, drags, gravity)

    def weighed(self, springs: Springs) -> tuple[np.ndarray, np.ndarray]:
        """The shares (c, q) of the vertices, and the gains (c,): the lost squares of the motion.

        A spring that swings too far gains nothing.
        """
        turns = np.concatenate([turned(clip, springs) for clip in self._clips])
        arms = self._points - springs.pivots[:, None]
        over_time = np.einsum("fm,fcij->cmij", self._times, turns, optimize=True)
        squares = np.einsum("fcki,fckj->cij", turns, turns, optimize=True)
        shared = np.einsum("mpi,cmip->cp", self._shapes, over_time @ np.swapaxes(arms, 1, 2)[:, None])
        alone = np.einsum("cpi,cpi->cp", arms @ squares, arms)
        least = 1e-9 * alone.max(axis=1, keepdims=True) + np.finfo(float).tiny
        shares = np.clip(shared / (alone + least), 0.0, self._room)
        gains = np.sum(shares * (2.0 * shared - shares * alone), axis=1)
        cosines = 1.0 + 0.5 * np.trace(turns, axis1=2, axis2=3)
        return shares, np.where(cosines.min(axis=0) >= FARTHEST, gains, -np.inf)

    def best(
        self, random: np.random.Generator, has_gravity: bool, start: np.ndarray | None = None
    ) -> tuple[np.ndarray, float]:
        """The draw (8,) with the largest gain, and the gain. start: a draw to look around."""
        mean, spread = (MEANS, SPREADS) if start is None else (start, NEAR * SPREADS)
        top, gain = mean, -np.inf
        for _ in range(ROUNDS if start is None else AGAIN):
            draws = mean + spread * random.standard_normal((DRAWN, len(MEANS)))
            draws[0] = top
            draws[:, :3] /= np.linalg.norm(draws[:, :3], axis=1, keepdims=True)
            gains = self.weighed(self.drawn(draws, has_gravity))[1]
            order = np.argsort(-gains)[:BEST]
            if gains[order[0]] > gain:
                top, gain = draws[order[0]], float(gains[order[0]])
            mean = 0.2 * mean + 0.8 * draws[order].mean(axis=0)
            spread = 0.3 * spread + 0.7 * draws[order].std(axis=0) + 1e-3
        return top, gain


@dataclass(frozen=True)
class Found:
    """A spring of a search. draw: (8,), of its parameters. shares: (q,), of the vertices in rows (q,)."""

    spring: Springs
    draw: np.ndarray
    rows: np.ndarray
    shares: np.ndarray


class Search:
    """Springs found one by one, with the motion that they leave."""

    def __init__(
        self,
        clips: Sequence[Clip],
        points: np.ndarray,
        weights: np.ndarray,
        has_gravity: bool,
        reach: Reach,
    ) -> None:
        self._points, self._room, self._has_gravity = points, weights.copy(), has_gravity
        self._reach = reach
        self._left = [Clip(clip.poses, clip.motion.copy(), clip.seconds) for clip in clips]
        self._random = np.random.default_rng(0)
        self._energy = self._energies()
        self._total, self._done = float(self._energy.sum()), set[int]()
        self.found: list[Found] = []

    def _energies(self) -> np.ndarray:
        """Squares (p,) of the motion that is left."""
        return sum(np.sum(clip.motion**2, axis=(0, 2)) for clip in self._left)

    def grow(self) -> bool:
        """Adds a spring where most motion is left; False if none is worth it."""
        energies = self._room.T @ self._energy
        for bone in np.argsort(-energies).tolist():
            if energies[bone] <= LEAST_MOTION * self._total:
                return False
            if bone in self._done:
                continue
            site = self._site(bone, SAMPLES)
            draw, gain = site.best(self._random, self._has_gravity)
            if gain > LEAST_GAIN * float(self._room[site.rows, bone] @ self._energy[site.rows]):
                self._take(bone, draw)
                return True
            self._done.add(bone)
        return False

    def look_again(self) -> None:
        """Fits the oldest spring anew to what the others leave."""
        old = self.found.pop(0)
        self._move(old, -1.0)
        bone = int(old.spring.bones[0])
        self._take(bone, self._site(bone, SAMPLES).best(self._random, self._has_gravity, old.draw)[0])

    def _site(self, bone: int, most: int) -> Site:
        rows = np.flatnonzero(self._room[:, bone] > LEAST_SHARE)
        every = -(-len(rows) // most)
        return Site(self._left, self._points, self._room, bone, rows[::every], self._reach)

    def _take(self, bone: int, draw: np.ndarray) -> None:
        site = self._site(bone, len(self._points))
        spring = site.drawn(draw[None], self._has_gravity)
        shares = site.weighed(spring)[0][0]
        kept = shares > LEAST_SHARE
        self.found.append(Found(spring, draw, site.rows[kept], shares[kept]))
        self._move(self.found[-1], 1.0)

    def _move(self, found: Found, sign: float) -> None:
        """Takes the motion of a spring from what is left, or gives it back."""
        rows = found.rows
        for clip in self._left:
            clip.motion[:, rows] -= sign * added(
                clip, found.spring, found.shares[:, None], self._points[rows]
            )
        self._room[rows, found.spring.bones[0]] -= sign * found.shares
        self._energy = self._energies()


@dataclass(frozen=True)
class Limits:
    """Limits of a fit. count: most springs. influences: most bones a vertex, springs included. fair: most of
    the unseen motion that the springs of a bone may miss, as a share.
    """

    count: int = 16
    influences: int = 4
    fair: float = 0.6


def fitted(
    points: np.ndarray,
    weights: np.ndarray,
    seen: Sequence[Clip],
    unseen: Sequence[Clip],
    limits: Limits,
    has_gravity: bool = False,
) -> Generator[Step, None, Fit]:
    """Fits springs to seen clips, and keeps those that are a fair stand-in in unseen ones.

    points: (p, 3), at rest. weights: (p, b), 0 for vertices without springs.
    """
    fits = []
    for number, reach in enumerate(REACHES):
        search = Search(seen, points, weights, has_gravity, reach)
        part = number / len(REACHES), (number + 1) / len(REACHES)
        found = yield from scaled(searched(search, limits.count), *part)
        fits.append(chosen(found, points, weights, unseen, limits))
    return min(fits, key=lambda fit: left_of(fit, points, unseen))


def searched(search: Search, count: int) -> Generator[Step, None, list[Found]]:
    """The springs of a search, each fitted once more after all others."""
    while len(search.found) < count and search.grow():
        yield Step(0.7 * len(search.found) / count, "Fitting springs")
    for number in range(len(search.found)):
        search.look_again()
        yield Step(0.7 + 0.3 * number / count, "Fitting springs")
    return search.found


def left_of(fit: Fit, points: np.ndarray, clips: Sequence[Clip]) -> float:
    """Squares of the motion that springs leave, over all vertices."""
    return sum(
        float(np.sum((added(clip, fit.springs, fit.shares, points) - clip.motion) ** 2)) for clip in clips
    )


def chosen(
    found: Sequence[Found], points: np.ndarray, weights: np.ndarray, unseen: Sequence[Clip], limits: Limits
) -> Fit:
    """The springs without those that miss too much of unseen motion, bone by bone, the worst first."""
    springs = joined([NONE, *(each.spring for each in found)])
    shares, unfair = np.zeros((len(points), len(found))), dict[int, float]()
    for column, each in enumerate(found):
        shares[each.rows, column] = each.shares
    shares = limited(shares, springs.bones, weights, limits.influences)
    kept = helpful(springs, shares, points, unseen)
    useless = set(springs.bones.tolist()) - set(springs.bones[kept].tolist())
    if useless:
        errors = missed(springs, shares, points, unseen, by_bone(springs))
        unfair |= {bone: errors[bone] for bone in sorted(useless)}
    springs, shares = springs.chosen(kept), shares[:, kept]
    while True:
        errors = missed(springs, shares, points, unseen, by_bone(springs))
        worst = max(errors, key=errors.__getitem__, default=-1)
        if worst < 0 or errors[worst] <= limits.fair:
            whole = missed(springs, shares, points, unseen, {-1: np.ones(len(springs), bool)})[-1]
            return Fit(springs, shares, whole, errors, unfair)
        unfair[worst] = errors[worst]
        kept = np.flatnonzero(springs.bones != worst)
        springs, shares = springs.chosen(kept), shares[:, kept]


def by_bone(springs: Springs) -> dict[int, np.ndarray]:
    """Flags (k,) of the springs of each bone."""
    return {int(bone): springs.bones == bone for bone in springs.bones}


def helpful(springs: Springs, shares: np.ndarray, points: np.ndarray, clips: Sequence[Clip]) -> np.ndarray:
    """The springs (k,) without which more of the motion of clips is missed, the last ones asked first."""
    left = [added(clip, springs, shares, points) - clip.motion for clip in clips]
    kept = np.ones(len(springs), bool)
    for column in reversed(range(len(springs))):
        own = np.array([column])
        parts = [added(clip, springs.chosen(own), shares[:, own], points) for clip in clips]
        without = [each - part for each, part in zip(left, parts, strict=True)]
        if sum(float(np.sum(each**2)) for each in without) <= sum(float(np.sum(each**2)) for each in left):
            left, kept[column] = without, False
    return np.flatnonzero(kept)


def limited(shares: np.ndarray, bones: np.ndarray, weights: np.ndarray, most: int) -> np.ndarray:
    """Shares (p, k) with at most so many bones a vertex, or as many as the rig has: the smallest go."""
    kept = shares.copy()
    allowed = np.maximum(most, np.count_nonzero(weights, axis=1))
    while True:
        left = weights.copy()
        np.subtract.at(left.T, bones, kept.T)
        used = np.count_nonzero(left > 1e-6, axis=1) + np.count_nonzero(kept, axis=1)
        rows = np.flatnonzero((used > allowed) & kept.any(axis=1))
        if len(rows) == 0:
            return kept
        kept[rows, np.argmin(np.where(kept[rows] > 0.0, kept[rows], np.inf), axis=1)] = 0.0


def missed(
    springs: Springs,
    shares: np.ndarray,
    points: np.ndarray,
    clips: Sequence[Clip],
    groups: dict[int, np.ndarray],
) -> dict[int, float]:
    """Missed share of the motion of the vertices that groups of springs (k,) move, root of mean squares."""
    off, motion = np.zeros(len(points)), np.zeros(len(points))
    for clip in clips:
        off += np.sum((added(clip, springs, shares, points) - clip.motion) ** 2, axis=(0, 2))
        motion += np.sum(clip.motion**2, axis=(0, 2))
    found = {}
    for name, columns in groups.items():
        rows = shares[:, columns].any(axis=1)
        there = float(motion[rows].sum())
        found[name] = float(np.sqrt(off[rows].sum() / there)) if there > 0.0 else 1.0
    return found
