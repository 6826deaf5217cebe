"""Cells of flesh in numpy, independent of the native module: resistance to gradients and to twists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import jounce

# Positions of a cell's corners, -1 or 1 along each axis.
PLACES = np.array([[1.0 if corner >> axis & 1 else -1.0 for axis in range(3)] for corner in range(8)])
# Smallest variance of flesh about its centre in the stiffness against twists.
LEAST_SPREAD = 0.2


def gradients(mesh: jounce.TetMesh) -> np.ndarray:
    """Contribution of the corners to the gradient at the flesh's centres, (e, 8, 3)."""
    factors = 1.0 + PLACES * np.asarray(mesh.flesh)[:, None, 0, :]
    rest = np.roll(factors, -1, axis=2) * np.roll(factors, -2, axis=2)
    return PLACES * rest / (4.0 * sides(mesh)[:, None, None])


def sides(mesh: jounce.TetMesh) -> np.ndarray:
    """Edge lengths (e,) of the cells."""
    corners = np.asarray(mesh.vertices)[np.asarray(mesh.cells)]
    return np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)


def twists(mesh: jounce.TetMesh) -> np.ndarray:
    """Stiffness of cells against twists for a weight of one: (e, 8, 8)."""
    half, spread = sides(mesh) / 2.0, np.asarray(mesh.flesh)[:, 1, :]
    total = np.zeros((len(half), 8, 8))
    for axis in range(3):
        signs = PLACES[:, axis] * PLACES[:, (axis + 1) % 3]
        mean = np.maximum((spread[:, axis] + spread[:, (axis + 1) % 3]) / 2.0, LEAST_SPREAD)
        resistance = half**-2 * mean
        total += (resistance / 64.0)[:, None, None] * np.outer(signs, signs)
    signs = PLACES.prod(axis=1)
    return total + (half**-2 / 9.0 / 64.0)[:, None, None] * np.outer(signs, signs)
