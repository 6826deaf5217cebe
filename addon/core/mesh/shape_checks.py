"""Irregularities of a surface: stray vertices, and weights with a wrong sum."""

import numpy as np

# Distance of a stray vertex from the middle, as a multiple of the distance that contains nearly all vertices.
STRAY_FACTOR = 4.0
STRAY_PERCENTILE = 98.0

# Largest deviation of a sum of weights from one by rounding.
WEIGHT_ROUNDING = 1e-3


def strays(points: np.ndarray) -> np.ndarray:
    """Indices of the few points (p, 3) far outside of all others."""
    distance = np.linalg.norm(points - np.median(points, axis=0), axis=1)
    return np.flatnonzero(distance > STRAY_FACTOR * np.percentile(distance, STRAY_PERCENTILE))


def without_weight(weights: np.ndarray) -> np.ndarray:
    """Indices of the rows of weights (p, b) with only zeros."""
    return np.flatnonzero(weights.sum(axis=1) <= 0.0)


def not_normalised(weights: np.ndarray) -> np.ndarray:
    """Indices of the rows of weights (p, b) with a sum other than one or zero."""
    sums = weights.sum(axis=1)
    return np.flatnonzero((sums > 0.0) & (np.abs(sums - 1.0) > WEIGHT_ROUNDING))
