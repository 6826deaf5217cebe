"""The extent of a motion: distance of the flesh from the pose, and stretch of the skin's edges.

Both are measured on the whole body, and on each of its parts.
"""

import math
from copy import copy
from dataclasses import dataclass, replace

import jounce
import numpy as np

from ..mesh import folds
from ..mesh.rest_check import norms, posed_points
from ..mesh.surface import Surface
from ..rig.part_settings import EXCESS, HANGING, MOTION
from ..stepping.motion import FrameInput
from .tearing import PosedEdges, PosedTriangles, edges_of

# Share of the soft vertices with a larger motion, and share of the frames with a larger one: a single wild
# impact is for the limits to handle, not for a stiffer body.
TIPS, STRIKES = 0.05, 0.05
# Share of all edges with a larger stretch, and of all triangles that turn further.
TORN = 1e-3
# Edges of a mesh of quads, as a share of those of its triangles: diagonals are in no wireframe.
SIDES = 2.0 / 3.0
# Stretch of an edge that looks as torn as a triangle upright on its pose, on the way to inside out.
UPRIGHT = 0.4
# Frames before and after the wildest one that are simulated with it, and the power of the strain with which
# they count: several of nearly the same strain are wilder than one.
BEFORE, AFTER, PEAKED = 16, 4, 16
# Largest numbers of evaluated soft vertices, edges and triangles, evenly chosen.
POINTS, EDGES, TRIANGLES = 2_000, 20_000, 5_000
# Weight of a part from which on a point is the part's, and smallest number of such points in a measured part.
OWN, FEWEST = 0.5, 8
# The same weight for edges, which tear most at the borders of parts.
BESIDE = 0.1


@dataclass(frozen=True)
class Extent:
    """The extent of a motion, or of one frame.

    size: motion of the flesh, as a share of the diagonal; of what may move farther by nature, such as a
    belly, relative to that. strain: stretch of an edge, as a share of its length, or of one that looks as
    torn as a turned triangle. Both count less of parts that hang on the body, since a fit calms these alone.
    wildest: of a motion, the frame in and around which strain is largest, counted from the first. parts: of
    each measured part, relative to what is natural. thin: True for a part without flesh that is free of bone
    all around. hangs: True for a part that swings by itself, such as a tail.
    """

    size: float = 0.0
    strain: float = 0.0
    wildest: int = 0
    parts: tuple["Extent", ...] = ()
    thin: bool = False
    hangs: bool = False


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
        self._body, self._model = body, model or body.model
        self._diagonal, self._drives = surface.diagonal, drives
        swings = None if surface.core is None else surface.core.swings(body.roles)
        soft, edges = thinned(soft_points(body, swings), POINTS), edges_of(surface.triangles)
        held = np.all(body.pinned[body.mesh.tets[body.embedding.tets]], axis=1)
        edges, self._torn = moving(edges, held, EDGES, SIDES * TORN * len(edges))
        # Less than one turned triangle is none.
        turned = np.floor(TORN * len(surface.triangles))
        triangles, self._turned = moving(surface.triangles, held, TRIANGLES, turned)
        owned, is_thin = places_of_parts(body, swings)
        known = [len(points) >= FEWEST for points in owned]
        # Names of the measured parts.
        self.parts = tuple(name for name, is_known in zip(body.parts, known, strict=True) if is_known)
        # A single part is the body itself.
        self._hanging = HANGING.intersection(self.parts if len(self.parts) > 1 else ())
        self._thin = [thin for thin, is_known in zip(is_thin, known, strict=True) if is_known]
        of_parts = [thinned(own, POINTS) for own, is_known in zip(owned, known, strict=True) if is_known]
        nearest = owner_of_points(body, BESIDE)
        self._whole, self._items = surface, (edges, triangles)
        # Largest strain so far of each edge, and of each triangle.
        self._worst = tuple(np.zeros(len(items)) for items in self._items)
        self._of_edges = [(nearest[edges] == part).any(axis=1) for part in np.flatnonzero(known)]
        self._of_triangles = [(nearest[triangles] == part).any(axis=1) for part in np.flatnonzero(known)]
        points = np.unique(np.concatenate([soft, edges.ravel(), triangles.ravel(), *of_parts]))
        self._soft, self._edges = np.searchsorted(points, soft), np.searchsorted(points, edges)
        self._triangles = np.searchsorted(points, triangles)
        self._own = [np.searchsorted(points, each) for each in of_parts]
        excess = excesses(body, self._hanging)
        self._natural = natural_motion(body)[soft] * excess[soft]
        self._loose = excess[edges].min(axis=1), excess[triangles].min(axis=1)
        self._bones = surface.weights[points].any(axis=0)
        weights = surface.weights[np.ix_(points, self._bones)]
        self._embedding = jounce.Embedding(body.mesh, surface.points[points])
        own = replace(surface, points=surface.points[points], weights=weights)
        self._poses = Poses(own, self._edges, self._triangles, self._diagonal)

    def over(
        self,
        body: "jounce.Body",
        surface: Surface,
        drives: list[FrameInput],
        model: "jounce.Model | None" = None,
    ) -> "Gauge":
        """A gauge of another motion; of a body with the same skin and the same bone, with the known poses."""
        if not same(measured(self._body, self._whole), measured(body, surface)):
            return Gauge(body, surface, drives, model)
        made = copy(self)
        made._model, made._drives = model or body.model, drives
        made._worst = tuple(map(np.zeros_like, self._worst))
        return made

    def of_frame(self, index: int, coefficients: np.ndarray) -> Extent:
        """The extent in one frame."""
        drive = self._drives[index]
        if drive.held:
            return Extent(parts=(Extent(),) * len(self.parts))
        moved = self._model.displacement(coefficients, self._embedding)
        sizes = norms(moved) / self._diagonal
        strains, turned = np.zeros(len(self._edges)), np.zeros(len(self._triangles))
        if self._torn < 1.0:
            posed, edges, triangles = self._poses.at(drive.pose[self._bones])
            places = posed + moved
            strains, turned = edges.stretches(places), UPRIGHT * triangles.turns(places)
            for worst, now in zip(self._worst, (strains, turned), strict=True):
                np.maximum(worst, now, out=worst)
        own = zip(self.parts, self._own, self._of_edges, self._of_triangles, self._thin, strict=True)
        parts = (
            replace(
                self._extent(sizes[points] / MOTION[name], strains[edges], turned[triangles]),
                thin=thin,
                hangs=name in self._hanging,
            )
            for name, points, edges, triangles, thin in own
        )
        edges, triangles = self._loose
        whole = self._extent(sizes[self._soft] / self._natural, strains / edges, turned / triangles)
        return replace(whole, parts=tuple(parts))

    def firmed(self, text: str, most: float) -> str:
        """Folds with firmer flesh where it stretched most in the measured frames, and beyond a strain."""
        return folds.firmed(text, self._whole.points, zip(self._items, self._worst, strict=True), most)

    def _extent(self, sizes: np.ndarray, strains: np.ndarray, turned: np.ndarray) -> Extent:
        """The extent of some of the flesh, in which as many edges and triangles may tear as in all."""
        torn = highest(strains, self._torn * len(self._edges))
        upright = highest(turned, self._turned * len(self._triangles))
        return Extent(quantile(sizes, 1.0 - TIPS), max(torn, upright))


class Poses:
    """Some points, edges and triangles of a skin in the poses of a shot."""

    def __init__(self, surface: Surface, edges: np.ndarray, triangles: np.ndarray, diagonal: float) -> None:
        """surface: with the points alone, and the bones that move them."""
        self._surface, self._edges, self._triangles = surface, edges, triangles
        self._diagonal = diagonal
        self._known: dict[bytes, tuple[np.ndarray, PosedEdges, PosedTriangles]] = {}

    def at(self, pose: np.ndarray) -> tuple[np.ndarray, PosedEdges, PosedTriangles]:
        """The points (p, 3), the edges and the triangles in a pose (b, 3, 4)."""
        key = pose.tobytes()
        if key not in self._known:
            posed = posed_points(self._surface, pose)
            edges = PosedEdges(posed, self._edges, self._diagonal)
            self._known[key] = posed, edges, PosedTriangles(posed, self._triangles, self._diagonal)
        return self._known[key]


def measured(body: "jounce.Body", surface: Surface) -> tuple[np.ndarray, ...]:
    """All that a gauge measures with: skin, tets, bone and parts."""
    swings = None if surface.core is None else surface.core.swings(body.roles)
    skin = surface.points, surface.triangles, surface.weights, body.embedding.tets
    tets = body.mesh.vertices, body.mesh.tets, body.pinned, body.rig.weights
    parts = np.array(body.parts), body.part_weights if body.parts else np.empty(0)
    return (*skin, *tets, *parts, np.empty(0) if swings is None else swings)


def same(arrays: tuple[np.ndarray, ...], others: tuple[np.ndarray, ...]) -> bool:
    """True if all arrays are equal to the others."""
    return all(a is b or np.array_equal(a, b) for a, b in zip(arrays, others, strict=True))


def moving(items: np.ndarray, held: np.ndarray, most: int, torn: float) -> tuple[np.ndarray, float]:
    """Evenly chosen edges or triangles with a point that is not held, and the share of them that may tear.

    torn: number of all that may tear.
    """
    free = items[~held[items].all(axis=1)]
    return thinned(free, most), torn / len(free) if len(free) else 1.0


def highest(values: np.ndarray, count: float) -> float:
    """The value that this number of the values exceed, 0 if all of them may."""
    share = count / max(1, len(values))
    return quantile(values, 1.0 - share) if len(values) and share < 1.0 else 0.0


def quantile(values: np.ndarray, share: float) -> float:
    """The quantile of values (n,), with the bits of numpy's in a tenth of its time."""
    at = (len(values) - 1) * share
    low = math.floor(at)
    high = min(low + 1, len(values) - 1)
    parted = np.partition(values, [low, high, len(values) - 1])
    below, above, part = float(parted[low]), float(parted[high]), at - low
    if math.isnan(parted[-1]):
        return math.nan
    return above - (above - below) * (1.0 - part) if part >= 0.5 else below + (above - below) * part


def part_weights(body: "jounce.Body") -> np.ndarray:
    """Weights (p, k) of each render vertex in the parts of a body."""
    if not body.parts:
        return np.zeros((len(body.embedding.tets), 0))
    return body.embedding.interpolate(np.ascontiguousarray(np.asarray(body.part_weights).T))


def owner_of_points(body: "jounce.Body", least: float = OWN) -> np.ndarray:
    """Index (p,) of the part of each render vertex, -1 for none. least: weight of an owner."""
    weights = part_weights(body)
    if not weights.size:
        return np.full(len(weights), -1)
    return np.where(weights.max(axis=1) > least, weights.argmax(axis=1), -1)


def places_of_parts(body: "jounce.Body", swings: np.ndarray | None) -> tuple[list[np.ndarray], list[bool]]:
    """Render vertices of each part that show its motion, and True for parts in a thin layer.

    They lie in flesh alone. Where a part has too few of these, those count that move at all.
    """
    owners = owner_of_points(body)
    soft = soft_points(body, swings)
    moving = np.flatnonzero(~body.pinned[body.mesh.tets[body.embedding.tets]].all(axis=1))
    owned, is_thin = [], []
    for part in range(len(body.parts)):
        within = soft[owners[soft] == part]
        is_thin.append(len(within) < FEWEST)
        owned.append(moving[owners[moving] == part] if is_thin[-1] else within)
    return owned, is_thin


def natural_motion(body: "jounce.Body") -> np.ndarray:
    """Share (p,) of the target amplitude, at least 1, up to which each render vertex looks natural."""
    most = np.array([MOTION[name] for name in body.parts])
    return np.maximum(1.0, 1.0 + part_weights(body) @ (most - 1.0))


def excesses(body: "jounce.Body", hanging: frozenset[str]) -> np.ndarray:
    """Factor (p,) by which each render vertex may exceed the bounds while the body is fitted.

    hanging: names of the parts that hang on the body.
    """
    most = np.array([EXCESS if name in hanging else 1.0 for name in body.parts])
    return 1.0 + part_weights(body) @ (most - 1.0)


def of_motion(frames: list[Extent], part: float = 1.0) -> Extent:
    """The extent of a motion: the size without a few frames, and the strain in the wildest frame.

    part: share of the whole shot in these frames, which are assumed to hold its wildest ones.
    """
    size = np.quantile([frame.size for frame in frames], max(0.0, 1.0 - STRIKES / part))
    strains = [frame.strain for frame in frames]
    parts = (of_motion(list(own), part) for own in zip(*(frame.parts for frame in frames), strict=True))
    thin, hangs = any(frame.thin for frame in frames), any(frame.hangs for frame in frames)
    return Extent(float(size), max(strains), wildest_of(np.array(strains)), tuple(parts), thin, hangs)


def wildest_of(strains: np.ndarray) -> int:
    """The frame in and around which strains (f,) are largest, of motions that begin a little before it."""
    before, after = np.arange(1, BEFORE + 1) / BEFORE, 1.0 - np.arange(1, AFTER + 1) / (AFTER + 1)
    around = np.concatenate([before, after])
    wild = (strains / max(strains.max(), np.finfo(float).tiny)) ** PEAKED
    return int(np.convolve(wild, around[::-1])[AFTER:][: len(wild)].argmax())


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
