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
# Shorter edges at rest, as a share of the diagonal, say nothing.
SHORT = 1e-3


def found(surface: Surface, edges: np.ndarray, poses: Iterable[np.ndarray]) -> str:
    """The folds of a surface in some poses (b, 3, 4), as text; empty without any.

    An edge that the rig shortens to a share c of its length stretches 1/c times as much by the same motion.
    At its ends flesh is `FOLDED / c` times as stiff. A rig that shrinks as a whole folds nowhere.
    edges: (e, 2).
    """
    edges = edges[lengths(surface.points, edges) > SHORT * surface.diagonal]
    # Between ends of the same weights no length changes.
    edges = edges[(surface.weights[edges[:, 0]] != surface.weights[edges[:, 1]]).any(axis=1)]
    rest = lengths(surface.points, edges)
    points, places = np.unique(edges, return_inverse=True)
    bones = surface.weights[points].any(axis=0)
    own = replace(surface, points=surface.points[points], weights=surface.weights[np.ix_(points, bones)])
    least, ends = rest.copy(), places.reshape(-1, 2)
    for pose in poses:
        size = shrunk(pose[bones])
        if size > 0.0:
            np.minimum(least, lengths(posed_points(own, pose[bones]), ends) / size, out=least)
    least = np.maximum(least, FOLDED / STIFFEST * rest)
    factors = np.maximum(FOLDED * rest / least, 1.0)
    stiffest = np.ones(len(surface.points))
    for corner in edges.T:
        np.maximum.at(stiffest, corner, factors)
    steps = np.log(stiffest) / np.log(STIFFEST)
    return shares.packed(steps) if steps.max() > LEAST else ""


def shrunk(pose: np.ndarray) -> float:
    """Share of its length that the least shortened line of any bone keeps in a pose (b, 3, 4), at most 1."""
    return min(1.0, float(np.linalg.norm(pose[:, :, :3], ord=2, axis=(1, 2)).max(initial=0.0)))


def factors(text: str, count: int) -> np.ndarray | None:
    """Factors (count,) on Young's modulus, None without folds."""
    steps = shares.unpacked(text, count)
    return STIFFEST**steps if steps.any() else None
