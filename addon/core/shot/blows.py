"""Impacts on a body over a shot, found in its motion: an impact is a jump of the velocity.

Gravity and elastic forces change the momentum of a body only a little within a frame; contact changes it
suddenly. The impulse of an impact within a frame is the difference of the velocities after and before. The
place follows from the change of spin.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

# Frames before and after an impact whose median gives the effect of gravity.
AROUND = 6
# Ratio of an impact to the jumps two frames away, at least: oscillation contains no impacts.
SUDDEN = 3.0
# Rounding error of a jump, per frame: this share of the body's path, and of the body's size.
ROUNDING = 1e-5


@dataclass(frozen=True, eq=False)
class RigidMotion:
    """Rigid motion of a body: centres of mass (f, 3), metres, and rotations from rest (f, 3, 3).

    radius: radius of gyration, metres, which converts spin to speed.
    """

    centres: np.ndarray
    turns: np.ndarray
    radius: float


@dataclass(frozen=True, eq=False)
class Blow:
    """Jump of velocity (3,), m/s, and spin (3,), rad/s, in the body's own axes at rest.

    time: seconds after the first frame.
    """

    time: float
    velocity: np.ndarray
    spin: np.ndarray


def rigid_motion(frames: Iterable[np.ndarray], rest: np.ndarray, masses: np.ndarray) -> RigidMotion:
    """The rigid motion nearest to the motion of vertices. frames: (n, 3) each; rest: (n, 3); masses: (n,)."""
    share = masses / masses.sum()
    around = rest - share @ rest
    centres, turns = [], []
    for places in frames:
        centres.append(share @ places)
        left, _, right = np.linalg.svd((share[:, None] * (places - centres[-1])).T @ around)
        left[:, 2] *= np.sign(np.linalg.det(left @ right))
        turns.append(left @ right)
    radius = float(np.sqrt(share @ (around**2).sum(axis=1)))
    return RigidMotion(np.array(centres), np.array(turns), radius)


def blows(motion: RigidMotion, fps: float, breaks: Iterable[int], quietest: float) -> list[Blow]:
    """The impacts of a motion, in order of time.

    Between frames i and i + 1 velocity and spin jump by `v_(i+1) - v_(i-1) - median`; the median over the
    frames around is the effect of gravity. The first and last three frames have too few neighbours. breaks:
    frames in which the motion starts anew. quietest: smallest impact, as a share of the hardest.
    """
    velocities = np.concatenate([np.diff(motion.centres, axis=0), turnings(motion.turns)], axis=1) * fps
    count = len(velocities)
    if count < 3:
        return []
    jumps = np.full((count, 6), np.nan)
    jumps[1:-1] = velocities[2:] - velocities[:-2]
    for frame in breaks:
        jumps[max(0, frame - 2) : frame + 1] = np.nan
    windows = [jumps[max(0, i - AROUND) : i + AROUND + 1] for i in range(count)]
    known = [window[~np.isnan(window[:, 0])] for window in windows]
    usual = np.array([np.median(window, axis=0) if len(window) else np.zeros(6) for window in known])
    steady = np.array([np.median(speed(window, motion)) if len(window) else 0.0 for window in known])
    sudden = jumps - usual
    sizes = speed(sudden, motion)
    struck = [i for i in range(2, count - 2) if sizes[i] > steady[i] and is_peak(sizes[i - 2 : i + 3])]
    reach = float(np.linalg.norm(np.ptp(motion.centres, axis=0))) + motion.radius
    least = max(quietest * max((sizes[i] for i in struck), default=0.0), ROUNDING * reach * fps)
    struck = [i for i in struck if sizes[i] >= least]
    return [made(motion, velocities, sudden[i], i, fps) for i in struck]


def speed(jumps: np.ndarray, motion: RigidMotion) -> np.ndarray:
    """Mean speed of a body's mass for jumps of velocity and spin (f, 6), m/s."""
    return np.sqrt((jumps[:, :3] ** 2).sum(axis=1) + motion.radius**2 * (jumps[:, 3:] ** 2).sum(axis=1))


def is_peak(sizes: np.ndarray) -> bool:
    """True if the middle of five jumps is the largest of the inner three and clearly exceeds the outer two.

    An unknown jump, for instance where the motion starts anew, is a NaN. There is no peak beside a NaN.
    """
    first, before, here, after, last = sizes
    return bool(before < here >= after and here > SUDDEN * first and here > SUDDEN * last)


def turnings(turns: np.ndarray) -> np.ndarray:
    """The rotation vectors (f - 1, 3) from each of rotations (f, 3, 3) to the next, in rad."""
    steps = turns[1:] @ turns[:-1].transpose(0, 2, 1)
    twice = np.stack([steps[:, 2, 1], steps[:, 0, 2], steps[:, 1, 0]], axis=1)
    axes = 0.5 * (twice - np.stack([steps[:, 1, 2], steps[:, 2, 0], steps[:, 0, 1]], axis=1))
    sines = np.linalg.norm(axes, axis=1)
    angles = np.arctan2(sines, 0.5 * (np.trace(steps, axis1=1, axis2=2) - 1.0))
    return axes * np.where(sines > 1e-12, angles / np.maximum(sines, 1e-12), 1.0)[:, None]


def made(motion: RigidMotion, velocities: np.ndarray, jump: np.ndarray, i: int, fps: float) -> Blow:
    """The impact between frames i and i + 1, at the intersection of the paths before and after."""
    before, after = velocities[i - 1, :3], velocities[i + 1, :3]
    change = after - before
    gap = (motion.centres[i] - motion.centres[i + 1]) * fps + after
    length = float(change @ change)
    share = float(np.clip(gap @ change / length, 0.0, 1.0)) if length > 0.0 else 0.5
    back = motion.turns[i].T
    return Blow((i + share) / fps, back @ jump[:3], back @ jump[3:])
