"""Stitches between points of a surface, in the native module's form."""

from collections.abc import Iterator
from dataclasses import astuple, dataclass

import numpy as np

# Largest number of separately opening stitch groups, as in the native module.
MOST_GROUPS = 32
# Stiffness of opening stitches in the computation of modes, relative to a firm hold: low enough for modes of
# both the open and the closed state.
KNOWN = 1e-3
# Largest number of points per block of the nearest-neighbour search.
BLOCK = 64
# Largest relative error of distances.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Stitches:
    """pairs: (s, 2) i64, points of the surface. stiffness: (s,) f64, share of the stiffness of the whole
    body. gap: (s,) f64, 1 keeps the distance at rest, 0 pulls the ends together. group: (s,) i64, the
    stitch group of each. radius: (s,) f64, spread of an end as a share of the size. opens: (s,) bool, True
    for stitches that open in some frame.
    """

    pairs: np.ndarray
    stiffness: np.ndarray
    gap: np.ndarray
    group: np.ndarray
    radius: np.ndarray
    opens: np.ndarray

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All inputs of a body; groups only if one opens, to keep the digests of older bodies."""
        spread = (self.radius,) if self.radius.any() else ()
        opening = (self.group, self.opens) if self.opens.any() else ()
        return self.pairs, self.stiffness, self.gap, *spread, *opening

    @property
    def known(self) -> np.ndarray:
        """Share (s,) of the stiffness used for the modes."""
        return np.where(self.opens, np.minimum(1.0, KNOWN / self.stiffness), 1.0)

    def newtons(self, young: float, diagonal: float) -> np.ndarray:
        """Stiffness (s,) in N/m: 1 is Young's modulus times the body's diagonal."""
        return self.stiffness * (young * diagonal)


NONE = Stitches(
    np.empty((0, 2), np.int64),
    np.empty(0),
    np.empty(0),
    np.empty(0, np.int64),
    np.empty(0),
    np.empty(0, bool),
)


def joined(seams: list[Stitches]) -> Stitches:
    """All stitches of some stitch groups."""
    if not seams:
        return NONE
    each = zip(*(astuple(seam) for seam in seams), strict=True)
    return Stitches(*(np.concatenate(arrays) for arrays in each))


def nearest_pairs(one: np.ndarray, other: np.ndarray, reach: float, most: int) -> np.ndarray:
    """Pairs (s, 2) of points (p, 3) and (q, 3) that are nearest to each other, no further apart than reach.

    Each point is used once, the nearest pairs first. Of more than `most`, as many are taken at even
    distances along the order of the first points.
    """
    if len(one) == 0 or len(other) == 0:
        return np.empty((0, 2), np.int64)
    nearest = _nearest(one, other)
    distance = np.linalg.norm(one - other[nearest], axis=1)
    back = _nearest(other, one)
    mutual = (back[nearest] == np.arange(len(one))) & (distance <= reach)
    chosen = np.flatnonzero(mutual)
    if len(chosen) > most:
        chosen = chosen[np.linspace(0, len(chosen) - 1, most).round().astype(int)]
    return np.stack([chosen, nearest[chosen]], axis=1)


def pairs_within(points: np.ndarray) -> np.ndarray:
    """Pairs (s, 2) of an even number of points (2 s, 3), the nearest two first."""
    left, pairs = list(range(len(points))), []
    while len(left) > 1:
        distances = np.linalg.norm(points[left][:, None] - points[left][None], axis=2)
        np.fill_diagonal(distances, np.inf)
        i, j = np.unravel_index(int(np.argmin(distances)), distances.shape)
        pairs.append((left[i], left[j]))
        for place in sorted((i, j), reverse=True):
            del left[place]
    return np.array(pairs, np.int64).reshape(-1, 2)


def _nearest(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """For each of p points the index of the nearest of q, the first of equals."""
    found = np.empty(len(one), np.int64)
    for rows in _blocks(one, np.arange(len(one))):
        centre = one[rows].mean(axis=0)
        away = np.linalg.norm(other - centre, axis=1)
        # The nearest point to the centre is within this distance plus the radius of each of them.
        reach = away.min() + 2.0 * np.linalg.norm(one[rows] - centre, axis=1).max()
        near = np.flatnonzero(away <= reach * (1.0 + ROUNDING))
        found[rows] = near[np.argmin(((one[rows, None] - other[near]) ** 2).sum(axis=2), axis=1)]
    return found


def _blocks(points: np.ndarray, rows: np.ndarray) -> Iterator[np.ndarray]:
    """Small groups of nearby points (p, 3), by row."""
    if len(rows) <= BLOCK:
        yield rows
        return
    chosen = points[rows]
    along = chosen[:, np.argmax(np.ptp(chosen, axis=0))]
    for half in np.array_split(rows[np.argsort(along, kind="stable")], 2):
        yield from _blocks(points, half)
