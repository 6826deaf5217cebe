"""What can be odd about a surface: loose parts, strays, weights that do not add up."""

import numpy as np

# A vertex counts as a stray if it is further from the middle than this many times the distance within which
# nearly all vertices are.
STRAY_FACTOR = 4.0
STRAY_PERCENTILE = 98.0

# Vertices closer than this share of the size are in one place.
SEAM = 1e-5

# Weights that differ from a sum of one by less are taken for rounding.
WEIGHT_ROUNDING = 1e-3


def loose_parts(points: np.ndarray, triangles: np.ndarray) -> int:
    """Number of parts that share no place, of points (p, 3) with triangles (q, 3); lone points are none.

    Vertices that a file format has split along a seam are in one place, so they hold their parts together.
    """
    place = max(SEAM * float(np.ptp(points, axis=0).max(initial=0.0)), np.finfo(float).tiny)
    _, welded = np.unique(np.round(points / place), axis=0, return_inverse=True)
    triangles = welded.reshape(-1)[triangles]
    labels = np.arange(len(points))
    while True:
        lowest = labels[triangles].min(axis=1)
        before = labels.copy()
        for corner in range(3):
            np.minimum.at(labels, triangles[:, corner], lowest)
        labels = labels[labels]
        if np.array_equal(labels, before):
            return len(np.unique(labels[triangles]))


def strays(points: np.ndarray) -> np.ndarray:
    """Indices of the few points (p, 3) that lie far outside of all others."""
    distance = np.linalg.norm(points - np.median(points, axis=0), axis=1)
    return np.flatnonzero(distance > STRAY_FACTOR * np.percentile(distance, STRAY_PERCENTILE))


def without_weight(weights: np.ndarray) -> np.ndarray:
    """Indices of the rows of weights (p, b) that are all zero."""
    return np.flatnonzero(weights.sum(axis=1) <= 0.0)


def not_normalised(weights: np.ndarray) -> np.ndarray:
    """Indices of the rows of weights (p, b) that have a sum, but not one."""
    sums = weights.sum(axis=1)
    return np.flatnonzero((sums > 0.0) & (np.abs(sums - 1.0) > WEIGHT_ROUNDING))
