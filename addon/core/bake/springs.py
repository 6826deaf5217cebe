"""Spring bones: joints that swing behind the bones of a rig, as engines without plug-ins move them.

A spring hangs on bone b with the rest pivot p and the rest tail `p + L n`. A step of dt moves the tail x as
VRMC_springBone 1.0 does,

    y = x + (1 - d) (x - x_before) + dt (k a + g down),   x' = P + L (y - P) / |y - P|,

P: the pivot and a: the direction n, both as posed by b; k: stiffness; d: drag; g: gravity. The spring turns
by the smallest rotation Q from n to the tail, and adds to a rest point X with the share s of b's weight

    s R_b (Q - I) (X - p).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..rig.volume import rotations

# Steps of engines, in seconds.
STEP = 1.0 / 60.0
DOWN = np.array([0.0, 0.0, -1.0])
# Least cosine between a spring and its rest, which keeps the smallest rotation defined.
LEAST_COSINE = -0.99


@dataclass(frozen=True)
class Springs:
    """k springs. bones: (k,) i64. pivots, axes: (k, 3), at rest, metres. lengths, stiffness, drags, gravity:
    (k,).
    """

    bones: np.ndarray
    pivots: np.ndarray
    axes: np.ndarray
    lengths: np.ndarray
    stiffness: np.ndarray
    drags: np.ndarray
    gravity: np.ndarray

    def __len__(self) -> int:
        """Number of springs."""
        return len(self.bones)

    def chosen(self, rows: np.ndarray) -> "Springs":
        """Some of the springs."""
        return Springs(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


NONE = Springs(np.zeros(0, int), *np.zeros((2, 0, 3)), *np.zeros((4, 0)))


def joined(parts: Sequence[Springs]) -> Springs:
    """All springs of several sets."""
    names = Springs.__dataclass_fields__
    return Springs(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class Clip:
    """A motion to simulate springs in.

    poses: T (f, b, 3, 4), from rest, metres. motion: of the flesh about its posed places, (f, p, 3), metres.
    """

    def __init__(self, poses: np.ndarray, motion: np.ndarray, seconds: float) -> None:
        """seconds: of a frame."""
        self.poses, self.motion, self.seconds = poses, motion, seconds
        self.turns = rotations(poses[..., :3])
        frames = len(poses)
        places = np.arange(0.0, max(frames - 1, 0) * seconds + 1e-9, STEP) / seconds
        self._before = np.minimum(places.astype(int), max(frames - 2, 0))
        self._after = np.minimum(self._before + 1, frames - 1)
        self._shares = (places - self._before)[:, None, None]
        steps = np.arange(frames) * seconds / STEP
        self._step = np.minimum(steps.astype(int), len(places) - 1)
        self._next = np.minimum(self._step + 1, len(places) - 1)
        self._rest = np.minimum(steps - self._step, 1.0)[:, None, None]

    def part(self, rows: slice) -> "Clip":
        """Some frames in a row."""
        return Clip(self.poses[rows], self.motion[rows], self.seconds)

    def at_steps(self, values: np.ndarray) -> np.ndarray:
        """Values (f, k, 3) of frames at the steps of an engine."""
        return (1.0 - self._shares) * values[self._before] + self._shares * values[self._after]

    def at_frames(self, values: np.ndarray) -> np.ndarray:
        """Values (n, k, 3) of steps at the frames."""
        return (1.0 - self._rest) * values[self._step] + self._rest * values[self._next]


def swung(pivots: np.ndarray, axes: np.ndarray, springs: Springs, step: float = STEP) -> np.ndarray:
    """Directions (n, k, 3) from the pivots to the tails, in the world, for pivots and axes (n, k, 3)."""
    lengths, kept = springs.lengths[:, None], (1.0 - springs.drags)[:, None]
    pull = step * (springs.stiffness[:, None] * axes + springs.gravity[:, None] * DOWN)
    found = np.empty_like(pivots)
    tail = before = pivots[0] + lengths * axes[0]
    for number, pivot in enumerate(pivots):
        aim = tail + kept * (tail - before) + pull[number] - pivot
        aim /= np.sqrt(np.einsum("ki,ki->k", aim, aim))[:, None]
        before, tail = tail, pivot + lengths * aim
        found[number] = aim
    return found


def turned(clip: Clip, springs: Springs) -> np.ndarray:
    """Q - I (f, k, 3, 3) of springs in the rest axes of the world."""
    poses, turns = clip.poses[:, springs.bones], clip.turns[:, springs.bones]
    pivots = np.einsum("fkij,kj->fki", poses[..., :3], springs.pivots) + poses[..., 3]
    axes = clip.at_steps(np.einsum("fkij,kj->fki", turns, springs.axes))
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
    aims = clip.at_frames(swung(clip.at_steps(pivots), axes, springs))
    aims = np.einsum("fkji,fkj->fki", turns, aims)
    return smallest_turns(springs.axes, aims / np.linalg.norm(aims, axis=-1, keepdims=True))


def smallest_turns(axes: np.ndarray, aims: np.ndarray) -> np.ndarray:
    """Q - I (..., 3, 3) of the smallest rotations from unit axes to unit aims (..., 3)."""
    normal = np.cross(axes, aims)
    cosine = np.maximum(np.sum(axes * aims, axis=-1), LEAST_COSINE)
    cross = np.zeros((*normal.shape, 3))
    for row, column, part in ((2, 1, 0), (0, 2, 1), (1, 0, 2)):
        cross[..., row, column], cross[..., column, row] = normal[..., part], -normal[..., part]
    return cross + cross @ cross / (1.0 + cosine)[..., None, None]


def added(clip: Clip, springs: Springs, shares: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The motion (f, p, 3) of rest points (p, 3) in the world. shares: (p, k)."""
    made = np.zeros((len(clip.poses), len(points), 3))
    turns = clip.turns[:, springs.bones] @ turned(clip, springs)
    for spring, share in enumerate(shares.T):
        rows = np.flatnonzero(share)
        arms = share[rows, None] * (points[rows] - springs.pivots[spring])
        made[:, rows] += arms @ np.swapaxes(turns[:, spring], 1, 2)
    return made
