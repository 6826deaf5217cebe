"""Finds rest shapes that nothing good can be made of, although the posed character looks right."""

import numpy as np

from .surface import Surface

# An edge whose length changes by more than this factor from rest to pose counts as torn or crumpled.
FACTOR = 3.0
# Where more than this share of the edges does, the rest shape is not the character's shape.
SHARE = 0.1


def is_crumpled(surface: Surface, pose: np.ndarray) -> bool:
    """Whether posing (b, 3, 4) stretches or shrinks many edges beyond what bodies do.

    Some files carry a rest mesh that only the pose unfolds: the volume is then filled in the wrong shape.
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
    return np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
