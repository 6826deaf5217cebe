"""What can be odd about a surface: strays, weights that do not add up."""

import numpy as np

# A vertex counts as a stray if it is further from the middle than this many times the distance within which
# nearly all vertices are.
STRAY_FACTOR = 4.0
STRAY_PERCENTILE = 98.0

# Weights that differ from a sum of one by less are taken for rounding.
WEIGHT_ROUNDING = 1e-3


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
