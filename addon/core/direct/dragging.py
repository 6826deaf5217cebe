"""A handful of flesh at the mouse, fading out around it."""

import numpy as np

# Smallest radius, whose square is a number.
SMALLEST = 1e-150


def handful(points: np.ndarray, centre: int, radius: float, flesh: np.ndarray) -> np.ndarray:
    """Share (p,) by which each point goes along with a dragged one.

    `(1 - (r / R)^2)^2` within the radius R at rest, of flesh alone. points: (p, 3). flesh: (p,) in [0, 1].
    """
    away = ((points - points[centre]) ** 2).sum(axis=1) / max(radius, SMALLEST) ** 2
    share = np.square(np.maximum(0.0, 1.0 - away)) * flesh
    return share / share[centre] if share[centre] > 0.0 else share
