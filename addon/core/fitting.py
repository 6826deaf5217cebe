"""The frequency at which a shot moves the flesh as far as is wanted."""

import time
from collections.abc import Callable, Generator
from contextlib import closing

import jounce
import numpy as np

from .simulation_pass import SimulationPass
from .task import POLL_SECONDS, Step, scaled
from .user_error import UserError

# A motion is as large as all but this share of the soft vertices stay below, in all but this share of its
# frames: one wild strike is for the limit to meet, not for a stiffer body.
TIPS, STRIKES = 0.05, 0.05
# Flesh that moves by less than this share of the size does not move.
STILL = 1e-4
# Motion falls with the square of the frequency, as long as it is slow against it.
SLOPE = -2.0
STEEPEST, FLATTEST = -4.0, -0.5
# After the first.
TRIES = 6
# How far from the wanted motion is near enough, as a ratio.
NEAR = 1.05
SLOWEST, FASTEST = 0.5, 80.0

# Finds how large a motion is, as a share of the diagonal.
Measuring = Generator[Step, None, float]


def size_of(
    filling: SimulationPass, body: "jounce.Body", diagonal: float, swings: np.ndarray | None = None
) -> Measuring:
    """How large the motion over the drives of a pass is, measured while it is simulated.

    swings: (b,) bool, bones whose flesh is no measure, as it swings freely.
    """
    moved = np.empty((len(body.embedding.tets), 3), np.float32)
    soft, frames = soft_points(body, swings), len(filling.drives)
    sizes: list[float] = []
    with closing(filling):
        while len(sizes) < frames:
            if not filling.collect():
                time.sleep(POLL_SECONDS)
                yield Step(len(sizes) / frames, "Fitting")
            for coefficients in filling.cache.coefficients[len(sizes) :]:
                body.model.displacement(coefficients, body.embedding, out=moved)
                sizes.append(float(np.quantile(np.linalg.norm(moved[soft], axis=1), 1.0 - TIPS)))
                yield Step(len(sizes) / frames, "Fitting")
    return float(np.quantile(sizes, 1.0 - STRIKES)) / diagonal


def soft_points(body: "jounce.Body", swings: np.ndarray | None = None) -> np.ndarray:
    """The render vertices, indices, that hang in flesh alone, without that of bones that swing, (b,) bool.

    All of flesh where that leaves none, and all where there is no flesh.
    """
    corners = body.mesh.tets[body.embedding.tets]
    soft = ~body.pinned[corners].any(axis=1)
    calm = soft
    if swings is not None and swings.any():
        calm = soft & ~(body.rig.weights[:, swings].sum(axis=1)[corners] > 0.5).any(axis=1)
    return next((np.flatnonzero(found) for found in (calm, soft) if found.any()), np.arange(len(corners)))


def fitted(
    size_at: Callable[[float], Measuring], wanted: float, first: float, only_firmer: bool = False
) -> Generator[Step, None, tuple[float, float]]:
    """The frequency in Hz that gives the wanted size of motion, and the size it gives.

    A secant on log scales, within `SLOWEST` and `FASTEST`. size_at: of a frequency. first: to begin with;
    only_firmer: and to stay with where the motion is no larger than wanted.
    """
    frequency, size = first, (yield from one_of_all(size_at(first), 0))
    if only_firmer and size <= wanted:
        return frequency, size
    if size < STILL:
        raise UserError("Nothing moves the body in the frames of the scene, so there is nothing to fit to.")
    slope = SLOPE
    for number in range(1, TRIES + 1):
        if max(size / wanted, wanted / size) < NEAR:
            break
        step = np.log(wanted / size) / slope
        following = float(np.clip(frequency * np.exp(step), SLOWEST, FASTEST))
        if following == frequency:
            break
        after = max((yield from one_of_all(size_at(following), number)), STILL)
        slope = np.log(after / size) / np.log(following / frequency)
        slope = float(np.clip(slope, STEEPEST, FLATTEST))
        frequency, size = following, after
    return frequency, size


def one_of_all(size: Measuring, number: int) -> Measuring:
    """The share of one try in the progress of all."""
    return scaled(size, number / (TRIES + 1), (number + 1) / (TRIES + 1))
