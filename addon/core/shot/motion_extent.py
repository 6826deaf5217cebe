"""The extent of a motion: distance of the flesh from the pose, and stretch of the skin's edges."""

from dataclasses import dataclass, replace

import jounce
import numpy as np

from ..mesh.rest_check import posed_points
from ..mesh.surface import Surface
from ..stepping.motion import FrameInput
from .tearing import edges_of, stretches

# Share of the soft vertices with a larger motion, and share of the frames with a larger one: a single wild
# impact is for the limits to handle, not for a stiffer body.
TIPS, STRIKES = 0.05, 0.05
# Share of all edges with a larger stretch.
TORN = 1e-3
# Largest numbers of evaluated soft vertices and edges, evenly chosen.
POINTS, EDGES = 2000, 2000


@dataclass(frozen=True)
class Extent:
    """The extent of a motion, or of one frame.

    size: motion of the flesh, as a share of the diagonal. strain: stretch of an edge, as a share of its
    length. wildest: of a motion, the frame of the largest strain, counted from the first.
    """

    size: float = 0.0
    strain: float = 0.0
    wildest: int = 0


class Gauge:
    """Measures the extent of motions of one body over the same drives."""

    def __init__(
        self,
        body: "jounce.Body",
        surface: Surface,
        drives: list[FrameInput],
        model: "jounce.Model | None" = None,
    ) -> None:
        """drives: of the frames. model: another model of the body."""
        self._model, self._diagonal, self._drives = model or body.model, surface.diagonal, drives
        swings = None if surface.core is None else surface.core.swings(body.roles)
        soft, edges = thinned(soft_points(body, swings), POINTS), edges_of(surface.triangles)
        held = np.all(body.pinned[body.mesh.tets[body.embedding.tets]], axis=1)
        moving = edges[~held[edges].all(axis=1)]
        self._torn = TORN * len(edges) / len(moving) if len(moving) else 1.0
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
    """The extent of a motion: its size without a few of the frames, its strain in the wildest one."""
    size = np.quantile([frame.size for frame in frames], 1.0 - STRIKES)
    strains = [frame.strain for frame in frames]
    return Extent(float(size), max(strains), int(np.argmax(strains)))


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


def thinned(items: np.ndarray, most: int) -> np.ndarray:
    """At most this number of some items, evenly chosen."""
    return items[:: max(1, -(-len(items) // most))]
