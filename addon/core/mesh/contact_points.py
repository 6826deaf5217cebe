"""Contact points of a body with colliders: the points of the skin, outermost first."""

from dataclasses import dataclass
from itertools import product

import jounce
import numpy as np

# Cells around all flesh, over which the blur extends.
PAD = 3
# Largest distance of the points inserted between the corners of large triangles, as a share of a longest
# side.
DENSE = 0.25
# Number of contact points of drafts and learnt motion, as many as reduced bodies use.
FEW = 256
NONE = np.empty((0, 3))


@dataclass(frozen=True, eq=False)
class Skin:
    """Points of a surface in their cage, and their rig weights (p, b), None without a rig.

    triangles: (q, 3), of the surface, by points of the skin. places: (p,) index of each surface point in the
    skin, -1 for none. self_collision: True if it collides with itself.
    """

    embedding: "jounce.Embedding"
    weights: np.ndarray | None
    triangles: np.ndarray
    places: np.ndarray
    self_collision: bool = False


def skin(
    body: "jounce.Body", weights: np.ndarray | None, triangles: np.ndarray, more: np.ndarray = NONE
) -> Skin:
    """The skin of a body. Among points much closer to each other than a cell only the outermost has contact.

    weights: (p, b), of the surface; None for a loose body. triangles: (q, 3), of the surface. more: (k, 3)
    additional contact points.
    """
    points = np.concatenate([body.embedding.points, more])
    edge = cell(body)
    order = np.argsort(-outwardness(np.asarray(body.mesh.vertices), points, edge), kind="stable")
    places = np.empty(len(points), np.int64)
    places[order] = np.arange(len(points))
    embedding = jounce.Embedding(body.mesh, np.ascontiguousarray(points[order]))
    ordered = None if weights is None else np.ascontiguousarray(weights[order])
    return Skin(embedding, ordered, places[triangles], places)


def few(body: "jounce.Body", weights: np.ndarray, triangles: np.ndarray) -> Skin:
    """The skin of a draft or of learnt motion: points far from each other, tips first, and the triangles
    between them.

    weights: (p, b), triangles: (q, 3), of the surface.
    """
    points = body.embedding.points
    chosen, nearest = far_apart(points, FEW)
    corners = nearest[triangles]
    sides = corners != np.roll(corners, 1, axis=1)
    whole = sides.all(axis=1)
    places = np.full(len(points), -1)
    places[chosen] = np.arange(len(chosen))
    embedding = jounce.Embedding(body.mesh, np.ascontiguousarray(points[chosen]))
    between_them = np.unique(np.sort(corners[whole], axis=1), axis=0)
    return Skin(embedding, np.ascontiguousarray(weights[chosen]), between_them, places)


def far_apart(points: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices (k,) of at most so many points, each the farthest from those before it, the first the farthest
    from the middle; and for each point the nearest of them, (p,) by its place among them.
    """
    away = np.linalg.norm(points - points.mean(axis=0), axis=1)
    chosen, nearest = [int(np.argmax(away))], np.zeros(len(points), np.int64)
    away = np.linalg.norm(points - points[chosen[0]], axis=1)
    while len(chosen) < most and away.max() > 0.0:
        chosen.append(int(np.argmax(away)))
        now = np.linalg.norm(points - points[chosen[-1]], axis=1)
        nearest[now < away] = len(chosen) - 1
        away = np.minimum(away, now)
    return np.array(chosen), nearest


def cell(body: "jounce.Body") -> float:
    """Length of an edge of the cells of a body, metres."""
    return float(np.cbrt(6.0 * np.asarray(body.mesh.volumes).mean()))


def between(points: np.ndarray, triangles: np.ndarray, spacing: float = 0.0) -> np.ndarray:
    """Points (k, 3) distributed over triangles (q, 3) that are large, as in a plain cube.

    spacing: largest distance of neighbours; 0 for a share of a longest side.
    """
    corners = points[triangles]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    parts = np.ceil(longest / (spacing or DENSE * np.ptp(points, axis=0).max())).astype(np.int64)
    found = [NONE]
    for count in np.unique(parts[parts > 1]):
        a, b = (each.ravel() for each in np.mgrid[: count + 1, : count + 1])
        within = (a + b <= count) & (a < count) & (b < count) & (a + b > 0)
        shares = np.stack([a, b, count - a - b], axis=1)[within] / count
        found.append((shares @ corners[parts == count]).reshape(-1, 3))
    # Neighbours share the points of an edge.
    return np.unique(np.concatenate(found).round(9), axis=0)


def outwardness(vertices: np.ndarray, points: np.ndarray, size: float) -> np.ndarray:
    """Outwardness (p,) of points (p, 3): larger with less flesh around, for a jacket larger than for a shirt
    below.

    Minus the number of cage vertices (n, 3) in a cell of some size, blurred over a few cells.
    """
    low = vertices.min(axis=0) - PAD * size
    shape = ((vertices.max(axis=0) - low) / size).astype(np.int64) + PAD + 2
    edges = [low[c] + size * (np.arange(shape[c] + 1) - 0.5) for c in range(3)]
    count = np.histogramdd(vertices, edges)[0]
    for axis in (*range(3), *range(3)):
        count = 0.5 * count + 0.25 * (np.roll(count, 1, axis) + np.roll(count, -1, axis))
    place = np.clip((points - low) / size, 0.0, shape - 1.001)
    corner = place.astype(np.int64)
    share = place - corner
    around = np.zeros(len(points))
    for step in product((0, 1), repeat=3):
        weight = np.where(step, share, 1.0 - share).prod(axis=1)
        around += weight * count[tuple((corner + step).T)]
    return -around
