"""Folds: places that the rig crushes in a shot. Flesh there must be stiffer to keep its shape."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from . import shares
from .rest_check import lengths, posed_points
from .surface import Surface

# Share of its length at rest below which an edge is in a fold, and largest factor on Young's modulus.
FOLDED, STIFFEST = 0.5, 16.0
# Least step of a factor, on a log scale from 0 to 1, that counts.
LEAST = 1e-3
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
    stiffest = np.ones(len(surface.points))
    for items, factors in ((edges, of_edges), (triangles, of_triangles)):
        for corner in items.T:
            np.maximum.at(stiffest, points[corner], factors)
    steps = np.log(stiffest) / np.log(STIFFEST)
    return shares.packed(steps) if steps.max() > LEAST else ""


def bends(weights: np.ndarray, items: np.ndarray) -> np.ndarray:
    """True for edges or triangles (q, n) whose corners have different weights."""
    return (weights[items[:, :1]] != weights[items[:, 1:]]).any(axis=(1, 2))


def widths(points: np.ndarray, edges: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Lengths of edges, then heights of triangles."""
    return np.concatenate([lengths(points, edges), heights(points, triangles)])


def heights(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Heights of triangles (q, 3) on their longest sides; 0 without any area."""
    a, b, c = (points[corner] for corner in triangles.T)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    longest = np.max([np.linalg.norm(side, axis=1) for side in (b - a, c - b, a - c)], axis=0)
    return np.divide(area, longest, out=np.zeros(len(area)), where=longest > 0.0)


def shrunk(pose: np.ndarray) -> float:
    """Share of its length that the least shortened line of any bone keeps in a pose (b, 3, 4), at most 1."""
    return min(1.0, float(np.linalg.norm(pose[:, :, :3], ord=2, axis=(1, 2)).max(initial=0.0)))


def factors(text: str, count: int) -> np.ndarray | None:
    """Factors (count,) on Young's modulus, None without folds."""
    steps = shares.unpacked(text, count)
    return STIFFEST**steps if steps.any() else None
