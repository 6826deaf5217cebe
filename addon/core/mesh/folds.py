"""Folds: places that the rig crushes in a shot, or where flesh stretches most. Flesh there must be stiffer.

The whole flesh may then be softer: otherwise few edges decide how soft.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from . import shares
from .rest_check import lengths, norms, posed_points
from .surface import Surface

# Share of its length at rest below which an edge is in a fold, and largest factor on Young's modulus.
FOLDED, STIFFEST = 0.5, 16.0
# Share of the edges and triangles of flesh that are made firmer for stretching most, and power of their
# strain in the factor: a cell that is stiffer than its neighbours leaves the strain to them. Where little
# flesh moves, those alone that stretch more than half as much as all but a thousandth.
FIRMED, EVENED, MOST = 0.02, 3.0, 1e-3
# Least step of a factor, on a log scale from 0 to 1, that counts.
LEAST = 1e-3
# Sides, as a share of the diagonal, from which on the flesh around is stiffer too: shorter ones are within
# a cell.
LONG = 0.02
# Shorter edges and lower triangles, as a share of the diagonal, say nothing.
SHORT = 1e-3


def found(surface: Surface, edges: np.ndarray, poses: Iterable[np.ndarray]) -> str:
    """The folds of a surface in some poses (b, 3, 4), as text; empty without any.

    An edge that the rig shortens to a share c of its length stretches 1/c times as much by the same motion,
    and a triangle that the rig flattens to a share c of its height turns over 1/c times as soon. At their
    corners flesh is `FOLDED / c` times as stiff. A rig that shrinks as a whole folds nowhere.
    edges: (e, 2).
    """
    triangles = surface.triangles
    edges = edges[lengths(surface.points, edges) > SHORT * surface.diagonal]
    triangles = triangles[heights(surface.points, triangles) > SHORT * surface.diagonal]
    # Between corners of the same weights nothing changes.
    edges, triangles = (items[bends(surface.weights, items)] for items in (edges, triangles))
    points, places = np.unique(np.concatenate([edges.ravel(), triangles.ravel()]), return_inverse=True)
    edges, triangles = places[: edges.size].reshape(-1, 2), places[edges.size :].reshape(-1, 3)
    bones = surface.weights[points].any(axis=0)
    own = replace(surface, points=surface.points[points], weights=surface.weights[np.ix_(points, bones)])
    rest = widths(own.points, edges, triangles)
    least = rest.copy()
    for pose in poses:
        size = shrunk(pose[bones])
        if size > 0.0:
            np.minimum(least, widths(posed_points(own, pose[bones]), edges, triangles) / size, out=least)
    least = np.maximum(least, FOLDED / STIFFEST * rest)
    of_edges, of_triangles = np.split(np.maximum(FOLDED * rest / least, 1.0), [len(edges)])
    folded = ((points[edges], of_edges), (points[triangles], of_triangles))
    return joined("", steps_around(surface.points, folded))


def firmed(
    text: str, points: np.ndarray, strained: Iterable[tuple[np.ndarray, np.ndarray]], most: float
) -> str:
    """Folds with firmer flesh where it stretches most.

    points: (p, 3). strained: edges (e, 2) and triangles (q, 3) with their strains. most: strain up to which
    flesh stays as it is.
    """
    known = [(items, strains) for items, strains in strained if len(items)]
    ends = [np.quantile(strains, [1.0 - FIRMED, 1.0 - MOST]) * (1.0, 0.5) for _, strains in known]
    usual = float(np.max(ends, initial=most))
    factors = [(items, np.maximum(strains / usual, 1.0) ** EVENED) for items, strains in known]
    return joined(text, steps_around(points, factors))


def steps_around(points: np.ndarray, stiffened: Iterable[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Steps (p,) of the largest factors on the stiffness around some edges or triangles, on a log scale.

    At the corners they are the whole. Flesh around long sides turns them, so from there on they fall to 0 at
    the distance of the longest side. points: (p, 3). stiffened: corners (q, n) with their factors (q,).
    """
    around, shortest = np.zeros(len(points)), LONG * np.linalg.norm(np.ptp(points, axis=0))
    for items, factors in stiffened:
        steps = np.log(factors) / np.log(STIFFEST)
        for corner in items.T:
            np.maximum.at(around, corner, steps)
        corners = points[items]
        longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1, initial=0.0)
        for item in np.flatnonzero((steps > LEAST) & (longest > shortest)):
            away = np.linalg.norm(points[:, np.newaxis] - corners[item], axis=2).min(axis=1)
            share = np.maximum(1.0 - away / longest[item], 0.0)
            np.maximum(around, steps[item] * share, out=around)
    return around


def joined(text: str, more: np.ndarray) -> str:
    """Folds as text with more steps (p,), empty without any."""
    steps = np.minimum(shares.unpacked(text, len(more)) + more, 1.0)
    return shares.packed(steps) if steps.max(initial=0.0) > LEAST else ""


def bends(weights: np.ndarray, items: np.ndarray) -> np.ndarray:
    """True for edges or triangles (q, n) whose corners have different weights."""
    return (weights[items[:, :1]] != weights[items[:, 1:]]).any(axis=(1, 2))


def widths(points: np.ndarray, edges: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Lengths of edges, then heights of triangles."""
    return np.concatenate([lengths(points, edges), heights(points, triangles)])


def heights(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Heights of triangles (q, 3) on their longest sides; 0 without any area."""
    a, b, c = (points[corner] for corner in triangles.T)
    area = norms(np.cross(b - a, c - a))
    longest = np.max([norms(side) for side in (b - a, c - b, a - c)], axis=0)
    return np.divide(area, longest, out=np.zeros(len(area)), where=longest > 0.0)


def shrunk(pose: np.ndarray) -> float:
    """Share of its length that the least shortened line of any bone keeps in a pose (b, 3, 4), at most 1."""
    return min(1.0, float(np.linalg.norm(pose[:, :, :3], ord=2, axis=(1, 2)).max(initial=0.0)))


def factors(text: str, count: int) -> np.ndarray | None:
    """Factors (count,) on Young's modulus, None without folds."""
    steps = shares.unpacked(text, count)
    return STIFFEST**steps if steps.any() else None
