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
    edges = edges_of(surface.triangles)
    part = surface.weights.argmax(axis=1)[edges[:, 0]]
    count = np.bincount(part, minlength=surface.weights.shape[1])
    least = np.maximum(FEWEST, SHARE * count)
    worst: dict[int, Tear] = {}
    sizes = [float(np.linalg.norm(z)) for z in coefficients]
    for frame in sorted(np.argsort(sizes)[-FRAMES:].tolist()):
        posed = posed_points(surface, poses[frame])
        stretch = stretches(posed, shaped(shaper, coefficients[frame]), edges, surface.diagonal)
        torn = np.bincount(part, weights=stretch > TORN, minlength=len(count))
        for bone in np.flatnonzero(torn >= least).tolist():
            most = float(np.sort(stretch[part == bone])[-int(np.ceil(least[bone]))])
            if bone not in worst or most > worst[bone].stretch:
                worst[bone] = Tear(bone, frame, most)
    return iter(worst[bone] for bone in sorted(worst))


def edges_of(triangles: np.ndarray) -> np.ndarray:
    """The edges (e, 2) of triangles, each once."""
    ends = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    # Of one number each, as rows are slow to sort.
    count = int(ends.max(initial=0)) + 1
    return np.stack(np.divmod(np.unique(ends[:, 0] * count + ends[:, 1]), count), axis=1)


def stretches(posed: np.ndarray, moved: np.ndarray, edges: np.ndarray, diagonal: float) -> np.ndarray:
    """How much displacements (p, 3) change the length of each posed edge, (e,), as a share of it."""
    before, after = lengths(posed, edges), lengths(posed + moved, edges)
    long = before > SHORT * diagonal
    return np.abs(np.divide(after, before, out=np.ones(len(edges)), where=long) - 1.0)
