"""Cells of flesh in numpy, apart from the native module: what they resist, by gradients and by twists."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import jounce

# Where the corners of a cell are, -1 or 1 along each axis.
PLACES = np.array([[1.0 if corner >> axis & 1 else -1.0 for axis in range(3)] for corner in range(8)])
# A cell twists no more easily than one whose flesh has this variance about its centre.
LEAST_SPREAD = 0.2


def gradients(mesh: jounce.TetMesh) -> np.ndarray:
    """What the corners add to the gradient at the centres of flesh, (e, 8, 3)."""
    factors = 1.0 + PLACES * np.asarray(mesh.flesh)[:, None, 0, :]
    rest = np.roll(factors, -1, axis=2) * np.roll(factors, -2, axis=2)
    return PLACES * rest / (4.0 * sides(mesh)[:, None, None])


def sides(mesh: jounce.TetMesh) -> np.ndarray:
    """Length (e,) of the edges of the cells."""
    corners = np.asarray(mesh.vertices)[np.asarray(mesh.cells)]
    return np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)


def twists(mesh: jounce.TetMesh) -> np.ndarray:
    """What cells resist beside their gradient, for a weight of one: (e, 8, 8)."""
    half, spread = sides(mesh) / 2.0, np.asarray(mesh.flesh)[:, 1, :]
    total = np.zeros((len(half), 8, 8))
    for axis in range(3):
        signs = PLACES[:, axis] * PLACES[:, (axis + 1) % 3]
        mean = np.maximum((spread[:, axis] + spread[:, (axis + 1) % 3]) / 2.0, LEAST_SPREAD)
        resistance = half**-2 * mean
        total += (resistance / 64.0)[:, None, None] * np.outer(signs, signs)
    signs = PLACES.prod(axis=1)
    return total + (half**-2 / 9.0 / 64.0)[:, None, None] * np.outer(signs, signs)
