"""Finds where flesh still tears: edges that a motion stretches far beyond the pose, part by part."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .full_space import Shaper, shaped
from .rest_check import lengths, posed_points
from .surface import Surface

# Edges whose length changes by more than this share of the posed one are torn.
TORN = 0.6
# A part tears where this share of its edges does, and no fewer than so many.
SHARE, FEWEST = 0.01, 3
# So many frames of the largest motion are looked at.
FRAMES = 60
# Shorter edges, as a share of the diagonal, say nothing.
SHORT = 1e-3


@dataclass(frozen=True)
class Tear:
    """Where a part tears most: the row of its bone in the rig, the index of the frame, how much."""

    bone: int
    frame: int
    stretch: float


def tears(
    surface: Surface, shaper: Shaper, poses: list[np.ndarray], coefficients: list[np.ndarray]
) -> Iterator[Tear]:
    """The parts that tear in a motion, by bones; poses (b, 3, 4) and coefficients a frame."""
    edges = np.unique(np.sort(surface.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    part = surface.weights.argmax(axis=1)[edges[:, 0]]
    count = np.bincount(part, minlength=surface.weights.shape[1])
    least = np.maximum(FEWEST, SHARE * count)
    worst: dict[int, Tear] = {}
    sizes = [float(np.linalg.norm(z)) for z in coefficients]
    for frame in sorted(np.argsort(sizes)[-FRAMES:].tolist()):
        stretch = stretches(surface, edges, shaper, poses[frame], coefficients[frame])
        torn = np.bincount(part, weights=stretch > TORN, minlength=len(count))
        for bone in np.flatnonzero(torn >= least).tolist():
            most = float(np.sort(stretch[part == bone])[-int(np.ceil(least[bone]))])
            if bone not in worst or most > worst[bone].stretch:
                worst[bone] = Tear(bone, frame, most)
    return iter(worst[bone] for bone in sorted(worst))


def stretches(
    surface: Surface, edges: np.ndarray, shaper: Shaper, pose: np.ndarray, coefficients: np.ndarray
) -> np.ndarray:
    """How much displacements change the length of each posed edge, (e,), as a share of it."""
    posed = posed_points(surface, pose)
    before = lengths(posed, edges)
    after = lengths(posed + shaped(shaper, coefficients), edges)
    long = before > SHORT * surface.diagonal
    return np.abs(np.divide(after, before, out=np.ones(len(edges)), where=long) - 1.0)
