"""Fits the frequency at which the flesh moves by the wanted amplitude in a shot."""

import time
from collections.abc import Callable, Generator
from contextlib import closing

import jounce
import numpy as np

from .simulation_pass import SimulationPass
from .task import POLL_SECONDS, Step, scaled
from .user_error import UserError

# The size of a motion excludes this share of the soft vertices and this share of the frames: a single wild
# impact is for the limit to handle, not for a stiffer body.
TIPS, STRIKES = 0.05, 0.05
# Motion below this share of the size counts as none.
STILL = 1e-4
# Slope of motion against frequency on log scales, for motion slow relative to the frequency.
SLOPE = -2.0
STEEPEST, FLATTEST = -4.0, -0.5
# After the first.
TRIES = 6
# Tolerance of the wanted motion, as a ratio.
NEAR = 1.05
SLOWEST, FASTEST = 0.5, 80.0

# Task that measures the size of a motion, as a share of the diagonal.
Measuring = Generator[Step, None, float]


def size_of(
    filling: SimulationPass, body: "jounce.Body", diagonal: float, swings: np.ndarray | None = None
) -> Measuring:
    """Size of the motion over the drives of a pass, measured during the simulation.

    swings: (b,) bool, bones excluded from the measure because their flesh swings freely.
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
    """Indices of the render vertices embedded in flesh alone, without freely swinging bones, (b,) bool.

    All flesh if none is left, and all vertices without flesh.
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
    """The frequency in Hz for the wanted size of motion, and the size reached.

    A secant method on log scales, within `SLOWEST` and `FASTEST`. size_at: size at a frequency. first: first
    frequency; only_firmer: keep the first frequency if the motion is no larger than wanted.
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
    """The share of one attempt in the total progress."""
    return scaled(size, number / (TRIES + 1), (number + 1) / (TRIES + 1))
