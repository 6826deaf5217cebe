"""Simple surfaces for first trials, examples and tests."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def box(
    size: tuple[float, float, float] = (1.0, 1.0, 1.0),
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32]]:
    """Surface of a box with a corner at the origin.

    Parameters
    ----------
    size : 3 floats, default (1.0, 1.0, 1.0)
        Lengths of the sides, metres.

    Returns
    -------
    tuple of ((8, 3) array, (12, 3) array of integers)
        Points, metres, and triangles that face outwards.

    Examples
    --------
    >>> points, triangles = jounce.shapes.box((4.0, 1.0, 1.0))
    >>> points.max(axis=0).tolist()
    [4.0, 1.0, 1.0]
    """
    corners = [(x, y, z) for x in (0.0, 1.0) for y in (0.0, 1.0) for z in (0.0, 1.0)]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [triangle for a, b, c, d in quads for triangle in ((a, b, c), (a, c, d))]
    return np.array(corners) * size, np.array(triangles, np.int32)
