"""The modes of a body for the artist: frequencies and moving regions."""

import jounce
import numpy as np

# Displayed amplitude at the most mobile place of a mode, as a share of the diagonal.
REACH = 0.06
# Displayed period of the lowest mode in seconds; the others are faster in proportion.
LOWEST_SECONDS = 1.0
# No mode is shown faster than this, in Hz: the eye would not follow.
FASTEST = 4.0


def frequency_ratios(body: "jounce.Body") -> np.ndarray:
    """Frequencies (m,) of the modes relative to the lowest deforming one: `sqrt(lambda) / omega_1`."""
    own = np.sqrt(np.maximum(body.modes.eigenvalues, 0.0)) / (2.0 * np.pi)
    return own / body.model.frequency


def swing(weights: np.ndarray, direction: np.ndarray, diagonal: float, phase: float) -> np.ndarray:
    """Offsets (p, 3) f32 in metres of a mode that swings along a unit direction (3,).

    weights: (p,), the largest of size 1. phase: in radians.
    """
    reach = REACH * diagonal * np.sin(phase)
    return (weights[:, np.newaxis] * (reach * np.asarray(direction))).astype(np.float32)


def shown_rate(ratio: float) -> float:
    """Displayed frequency of a mode, in Hz."""
    return min(max(ratio, 1.0) / LOWEST_SECONDS, FASTEST)
