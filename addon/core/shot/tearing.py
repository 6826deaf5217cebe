"""Finds torn flesh: edges stretched far beyond the pose, part by part."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..body.full_space import Shaper, shaped
from ..mesh import folds
from ..mesh.rest_check import lengths, norms, posed_points
from ..mesh.surface import Surface
from ..stepping.motion import FrameInput

# Relative change of an edge's posed length above which the edge is torn.
TORN = 0.6
# Smallest share and number of torn edges in a tearing part.
SHARE, FEWEST = 0.01, 3
# Number of inspected frames, those of the largest motion.
FRAMES = 60


@dataclass(frozen=True)
class Tear:
    """The worst tear of a part: row of the bone in the rig, index of the frame, amount."""

    bone: int
    frame: int
    stretch: float


def tears(
    surface: Surface, shaper: Shaper, poses: list[np.ndarray], coefficients: list[np.ndarray]
) -> Iterator[Tear]:
    """The tearing parts in a motion, by bones; poses (b, 3, 4) and coefficients per frame."""
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


def folds_in(surface: Surface, drives: list[FrameInput]) -> str:
    """The folds of a surface in the poses of some drives, as text."""
    poses = (drive.pose for drive in drives if not drive.held)
    return folds.found(surface, edges_of(surface.triangles), poses)


def edges_of(triangles: np.ndarray) -> np.ndarray:
    """The edges (e, 2) of triangles, each once."""
    ends = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    # As single numbers, since rows are slow to sort.
    count = int(ends.max(initial=0)) + 1
    return np.stack(np.divmod(np.unique(ends[:, 0] * count + ends[:, 1]), count), axis=1)


def stretches(posed: np.ndarray, moved: np.ndarray, edges: np.ndarray, diagonal: float) -> np.ndarray:
    """Relative change of the length of each posed edge by displacements (p, 3), (e,)."""
    return PosedEdges(posed, edges, diagonal).stretches(posed + moved)


def turns(posed: np.ndarray, moved: np.ndarray, triangles: np.ndarray, diagonal: float) -> np.ndarray:
    """Turn (q,) of each posed triangle by displacements (p, 3): 0 for none, 1 upright, more for inside out.

    The cosine of the angle between the normals, subtracted from 1; 0 for low triangles.
    """
    return PosedTriangles(posed, triangles, diagonal).turns(posed + moved)


class PosedEdges:
    """Edges (e, 2) in a pose, against which flesh is measured any number of times."""

    def __init__(self, posed: np.ndarray, edges: np.ndarray, diagonal: float) -> None:
        self._edges, self._before = edges, lengths(posed, edges)
        self._long = self._before > folds.SHORT * diagonal

    def stretches(self, places: np.ndarray) -> np.ndarray:
        """Relative change (e,) of the lengths by flesh in these places (p, 3)."""
        after, ones = lengths(places, self._edges), np.ones(len(self._edges))
        return np.abs(np.divide(after, self._before, out=ones, where=self._long) - 1.0)


class PosedTriangles:
    """Triangles (q, 3) in a pose, likewise."""

    def __init__(self, posed: np.ndarray, triangles: np.ndarray, diagonal: float) -> None:
        self._triangles, self._before = triangles, normals(posed, triangles)
        self._sizes = norms(self._before)
        self._high = folds.heights(posed, triangles) > folds.SHORT * diagonal

    def turns(self, places: np.ndarray) -> np.ndarray:
        """Turn (q,) of each triangle by flesh in these places (p, 3), as for `turns`."""
        after = normals(places, self._triangles)
        sizes = self._sizes * norms(after)
        x, y, z = (self._before * after).T
        ones, seen = np.ones(len(sizes)), self._high & (sizes > 0.0)
        return 1.0 - np.divide((x + y) + z, sizes, out=ones, where=seen)


def normals(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Normals (q, 3) of triangles, with twice their areas as lengths."""
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    return np.cross(b - a, c - a)
