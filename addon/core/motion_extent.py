"""The extent of a motion: how far flesh moves off the pose, and how far edges of the skin stretch by that."""

from dataclasses import dataclass, replace

import jounce
import numpy as np

from .motion import FrameInput
from .rest_check import posed_points
from .surface import Surface
from .tearing import edges_of, stretches

# The share of the soft vertices that may move further, and of the frames in which more may happen: one wild
# strike is for the limits to meet, not for a stiffer body.
TIPS, STRIKES = 0.05, 0.05
# The share of all edges that may stretch further.
TORN = 1e-3
# At most so many soft vertices and edges are looked at, evenly chosen.
POINTS, EDGES = 2000, 2000


@dataclass(frozen=True)
class Extent:
    """The extent of a motion, or of one frame of it.

    size: share of the diagonal by which flesh moves. strain: share of its length by which an edge stretches.
    """

    size: float = 0.0
    strain: float = 0.0


class Gauge:
    """Measures the extent of motions of one body over the same drives."""

    def __init__(self, body: "jounce.Body", surface: Surface, drives: list[FrameInput]) -> None:
        """drives: of the frames."""
        self._model, self._diagonal, self._drives = body.model, surface.diagonal, drives
        swings = None if surface.core is None else surface.core.swings(body.roles)
        soft, edges = thinned(soft_points(body, swings), POINTS), edges_of(surface.triangles)
        held = np.all(body.pinned[body.mesh.tets[body.embedding.tets]], axis=1)
        moving = edges[~held[edges].all(axis=1)]
        self._torn = TORN * len(edges) / max(1, len(moving))
        edges = thinned(moving, EDGES)
        points, places = np.unique(np.concatenate([soft, edges.ravel()]), return_inverse=True)
        self._soft, self._edges = places[: len(soft)], places[len(soft) :].reshape(-1, 2)
        self._bones = surface.weights[points].any(axis=0)
        weights = surface.weights[np.ix_(points, self._bones)]
        self._surface = replace(surface, points=surface.points[points], weights=weights)
        self._embedding = jounce.Embedding(body.mesh, self._surface.points)
        self._posed: dict[int, np.ndarray] = {}

    def of_frame(self, index: int, coefficients: np.ndarray) -> Extent:
        """The extent in one frame."""
        drive = self._drives[index]
        if drive.held:
            return Extent()
        moved = self._model.displacement(coefficients, self._embedding)
        size = np.quantile(np.linalg.norm(moved[self._soft], axis=1), 1.0 - TIPS) / self._diagonal
        if self._torn >= 1.0:
            return Extent(float(size))
        if index not in self._posed:
            self._posed[index] = posed_points(self._surface, drive.pose[self._bones])
        stretch = stretches(self._posed[index], moved, self._edges, self._diagonal)
        return Extent(float(size), float(np.quantile(stretch, 1.0 - self._torn)))


def of_motion(frames: list[Extent]) -> Extent:
    """The extent of a motion over all but a few of its frames."""
    size, strain = (
        float(np.quantile([getattr(frame, name) for frame in frames], 1.0 - STRIKES))
        for name in ("size", "strain")
    )
    return Extent(size, strain)


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


def thinned(items: np.ndarray, most: int) -> np.ndarray:
    """At most so many of some items, evenly chosen."""
    return items[:: max(1, -(-len(items) // most))]
