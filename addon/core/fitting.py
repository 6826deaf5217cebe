"""The frequency at which a shot moves the flesh as far as is wanted."""

from collections.abc import Callable

import jounce
import numpy as np

from .refusal import Refusal

# A motion is as large as all but this share of the vertices stay below, in its wildest frame.
SPIKES = 0.01
# Flesh that moves by less than this share of the size does not move.
STILL = 1e-4
# Motion falls with the square of the frequency, as long as it is slow against it.
SLOPE = -2.0
STEEPEST, FLATTEST = -4.0, -0.5
TRIES = 6
# How far from the wanted motion is near enough, as a ratio.
NEAR = 1.05
SLOWEST, FASTEST = 0.5, 40.0


def size_of(coefficients: np.ndarray, body: "jounce.Body", diagonal: float) -> float:
    """How large a motion (f, m, 3, 4) is, as a share of the diagonal."""
    moved = np.empty((len(body.embedding.tets), 3), np.float32)
    largest = 0.0
    for frame in coefficients:
        body.model.displacement(frame, body.embedding, out=moved)
        largest = max(largest, float(np.quantile(np.linalg.norm(moved, axis=1), 1.0 - SPIKES)))
    return largest / diagonal


def fitted(size_at: Callable[[float], float], wanted: float, first: float) -> tuple[float, float]:
    """The frequency in Hz that gives the wanted size of motion, and the size it gives.

    A secant on log scales, within `SLOWEST` and `FASTEST`. size_at: of a frequency. first: to begin with.
    """
    frequency, size = first, size_at(first)
    if size < STILL:
        raise Refusal("Nothing moves the body in the frames of the scene, so there is nothing to fit to.")
    slope = SLOPE
    for _ in range(TRIES):
        if max(size / wanted, wanted / size) < NEAR:
            break
        step = np.log(wanted / size) / slope
        following = float(np.clip(frequency * np.exp(step), SLOWEST, FASTEST))
        if following == frequency:
            break
        after = max(size_at(following), STILL)
        slope = np.log(after / size) / np.log(following / frequency)
        slope = float(np.clip(slope, STEEPEST, FLATTEST))
        frequency, size = following, after
    return frequency, size
