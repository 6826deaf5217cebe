"""Bakes a motion to the existing bones of a rig with their existing weights.

Bone j moves rest points by T_j, and a vertex shows `sum_j w_ij T_j x_i`. In turn, each chosen bone takes the
rotation Q about its head c that best fits its vertices to their wanted positions,

    min over Q of sum_i |r_i - Q (a_i - W_i c) - W_i c|^2, a_i = sum_k w_ik T_k x_i, W_i = sum_k w_ik,

k: the bone and all its descendants, which follow; r_i: the remainder of the vertex after the other bones. For
bones that may translate, the place of c is free, too. Every step reduces the remaining error.
"""

from collections.abc import Generator

import numpy as np

from ..common.task import Step
from ..common.user_error import UserError
from .helper_bones import HelperBones, Skeleton, Wanted, keyed

PASSES = 100
# Pull towards the carried pose for bones of little influence, as a share of their weights.
HOLD = 1e-6
# Relative gain below which a pass is the last.
WORTHWHILE = 1e-4
# Largest number of vertices for the fit, spread evenly over their list.
SAMPLES = 3000


def fitted(
    wanted: Wanted, rig: Skeleton, poses: np.ndarray, chosen: np.ndarray, turn_only: bool
) -> Generator[Step, None, HelperBones]:
    """Fits chosen bones (b,) bool to a motion. poses: T (f, b, 3, 4) of the rig, from rest, metres."""
    moving = np.flatnonzero(chosen & (wanted.weights > 0.0).any(axis=0))
    if len(moving) == 0:
        raise UserError("None of the chosen bones moves a vertex of the body; choose a collection of others.")
    fit = Fit(sampled(wanted), rig, poses, turn_only)
    for number in range(PASSES):
        before = fit.left_over
        for bone in rig.order():
            if bone in moving:
                fit.turn(bone)
        yield Step((number + 1) / PASSES, "Fitting")
        if fit.left_over > (1.0 - WORTHWHILE) * before:
            break
    channels, played = keyed(rig, fit.motion)
    off = np.linalg.norm(skinned(wanted, played) - wanted.frames, axis=2)
    return HelperBones(rig, wanted.weights, channels, float(np.sqrt(np.mean(off**2))), float(off.max()))


def sampled(wanted: Wanted) -> Wanted:
    """An even selection of the vertices, if there are many."""
    every = slice(None, None, -(-len(wanted.points) // SAMPLES))
    return Wanted(wanted.points[every], wanted.frames[:, every], wanted.weights[every])


class Fit:
    """Motions (f, b, 3, 4) that improve with each rotated bone."""

    def __init__(self, wanted: Wanted, rig: Skeleton, poses: np.ndarray, turn_only: bool) -> None:
        self.motion = poses.copy()
        self._wanted, self._rig, self._turn_only = wanted, rig, turn_only
        bones = range(len(rig.names))
        self._carried = [[other for other in bones if bone in (other, *rig.above(other))] for bone in bones]
        # The remaining error at each vertex, (f, p, 3).
        self._left = wanted.frames - skinned(wanted, poses)

    @property
    def left_over(self) -> float:
        """The sum of the squares of the remaining error."""
        return float(np.sum(self._left**2))

    def turn(self, bone: int) -> None:
        """Rotates a bone, and translates it if allowed, with all its descendants."""
        carried = self._carried[bone]
        weights = self._wanted.weights[:, carried]
        rows = np.flatnonzero(weights.any(axis=1))
        weights = weights[rows]
        part = Wanted(self._wanted.points[rows], self._wanted.frames, weights)
        placed = skinned(part, self.motion[:, carried])
        shares = weights.sum(axis=1)[:, None]
        asked = self._left[:, rows] + placed
        if self._turn_only:
            pivot = centre = moved(self.motion[:, bone], self._rig.rests[bone, None, :3, 3])
        else:
            even = shares / np.sum(shares**2)
            pivot, centre = (np.sum(even * points, axis=1, keepdims=True) for points in (placed, asked))
        arms = placed - shares * pivot
        spread = np.swapaxes(asked - shares * centre, 1, 2) @ arms
        hold = HOLD * np.sum(arms**2, axis=(1, 2))[:, None, None] * np.eye(3)
        turns = best_turns(spread + hold)
        self._left[:, rows] = asked - shares * centre - arms @ np.swapaxes(turns, 1, 2)
        made = turns[:, None] @ self.motion[:, carried]
        made[..., 3] += centre - pivot @ np.swapaxes(turns, 1, 2)
        self.motion[:, carried] = made


def best_turns(spread: np.ndarray) -> np.ndarray:
    """The rotations Q (f, 3, 3) with the largest tr(Q' H), also for a mirroring H."""
    left, _, right = np.linalg.svd(spread)
    left[:, :, 2] *= np.sign(np.linalg.det(left @ right))[:, None]
    return left @ right


def moved(transforms: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Points (p, 3) under transforms (f, 3, 4): (f, p, 3)."""
    return points @ np.swapaxes(transforms[:, :, :3], 1, 2) + transforms[:, None, :, 3]


def skinned(wanted: Wanted, motion: np.ndarray) -> np.ndarray:
    """Vertex positions in a motion T (f, b, 3, 4): (f, p, 3)."""
    homogeneous = np.column_stack((wanted.points, np.ones(len(wanted.points))))
    spans = (wanted.weights[:, :, None] * homogeneous[:, None]).reshape(len(wanted.points), -1)
    return spans @ np.swapaxes(motion, 2, 3).reshape(len(motion), -1, 3)
