"""The modes of a body as an artist sees them: how fast each swings, and what it moves."""

import jounce
import numpy as np

# How far the place that a mode moves most swings to each side, as a share of the diagonal.
REACH = 0.06
# The lowest mode swings once in this many seconds when it is shown, the others as much faster as they are.
LOWEST_SECONDS = 1.0
# No mode is shown faster than this, in Hz: the eye would not follow.
FASTEST = 4.0


def frequency_ratios(body: "jounce.Body") -> np.ndarray:
    """Frequencies (m,) of the modes as multiples of the lowest one that deforms: `sqrt(lambda) / omega_1`."""
    own = np.sqrt(np.maximum(body.modes.eigenvalues, 0.0)) / (2.0 * np.pi)
    return own / body.model.frequency


def swing(weights: np.ndarray, direction: np.ndarray, diagonal: float, phase: float) -> np.ndarray:
    """Offsets (p, 3) f32 in metres of a mode that swings along a unit direction (3,).

    weights: (p,), the largest of size 1. phase: in radians.
    """
    reach = REACH * diagonal * np.sin(phase)
    return (weights[:, np.newaxis] * (reach * np.asarray(direction))).astype(np.float32)


def shown_rate(ratio: float) -> float:
    """How often a mode swings in a second while it is shown, in Hz."""
    return min(max(ratio, 1.0) / LOWEST_SECONDS, FASTEST)
