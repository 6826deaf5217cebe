"""Finds the depth of flesh in colliders."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..body.colliders import Colliders
from ..body.full_space import Shaper, shaped
from ..mesh.maps import PINNED
from ..mesh.rest_check import posed_points
from ..mesh.surface import Surface

# Depths below this share of the diagonal are invisible.
SEEN = 2e-3
# Flesh closer to its pose than this share of the diagonal in all frames is held by the rig.
HELD = 1e-5


@dataclass(frozen=True)
class Depth:
    """The deepest place of flesh in a collider: index of the frame, row of the main bone in the rig,
    metres.
    """

    collider: int
    frame: int
    bone: int
    metres: float


def deepest(
    surface: Surface,
    shaper: Shaper,
    colliders: Colliders,
    poses: Sequence[np.ndarray],
    coefficients: Sequence[np.ndarray],
    around: Sequence[np.ndarray],
) -> list[Depth]:
    """The deepest visible place in each collider; poses (b, 3, 4), matrices (c, 3, 4) per frame.

    Flesh held by the rig, and flesh spared by a collider, follows the animation and does not count.
    """
    moved = [shaped(shaper, frame).astype(np.float64) for frame in coefficients]
    size = surface.diagonal
    may_touch = np.max([np.abs(offsets).max(axis=1) for offsets in moved], axis=0) > HELD * size
    may_touch &= True if surface.attached is None else surface.attached < PINNED
    found: dict[int, Depth] = {}
    for frame, (pose, offsets, matrices) in enumerate(zip(poses, moved, around, strict=True)):
        points = posed_points(surface, pose) + offsets
        for index, away in enumerate(felt_distances(colliders, around[0], matrices, points)):
            away[~may_touch] = np.inf
            point = int(away.argmin())
            depth = -float(away[point])
            if depth > SEEN * size and (index not in found or depth > found[index].metres):
                found[index] = Depth(index, frame, int(surface.weights[point].argmax()), depth)
    return [found[index] for index in sorted(found)]


def depths(
    colliders: Colliders, first: np.ndarray, now: np.ndarray, points: np.ndarray, start: int = 0
) -> np.ndarray:
    """Depth (p,) of points in any collider, metres, 0 outside; arguments as in `felt_distances`."""
    nearest = np.zeros(len(points))
    for away in felt_distances(colliders, first, now, points, start):
        np.minimum(nearest, away, out=nearest)
    return -nearest


def felt_distances(
    colliders: Colliders, first: np.ndarray, now: np.ndarray, points: np.ndarray, start: int = 0
) -> list[np.ndarray]:
    """Distances (p,) from each collider, metres, negative inside, infinite at spared points.

    first, now: (c, 3, 4), matrices of the first frame and of this one. points: (p, 3), metres, of the body's
    render vertices from `start` on.
    """
    found = colliders.distances(first, now, points)
    for solid, away in zip(colliders.solids, found, strict=True):
        spared = solid.spared - start
        away[spared[(spared >= 0) & (spared < len(points))]] = np.inf
    return found
