"""Values of a map from shapes: spheres, smoothing along edges, mirroring, other surfaces."""

import numpy as np

from .parts import welded

SMOOTHING = 0.5


def sphere(points: np.ndarray, centre: np.ndarray, radius: float) -> np.ndarray:
    """Falloff at points (p, 3): 1 at the centre of a sphere, 0 outside or without radius, smooth between."""
    if radius <= 0.0:
        return np.zeros(len(points))
    inside = np.clip(1.0 - np.linalg.norm(points - centre, axis=1) / radius, 0.0, 1.0)
    return inside * inside * (3.0 - 2.0 * inside)


def rim(points: np.ndarray, links: np.ndarray, inside: np.ndarray, width: float) -> np.ndarray:
    """Falloff at points (p, 3) around chosen ones, (p,) bool: 1 there, 0 from `width` on along the surface.

    links: (k, 2), pairs of points with a straight way between them. Coincident points are one place.
    """
    if width <= 0.0:
        return inside.astype(float)
    near = np.clip(1.0 - distances(points, links, inside, width) / width, 0.0, 1.0)
    return near * near * (3.0 - 2.0 * near)


def distances(points: np.ndarray, links: np.ndarray, inside: np.ndarray, reach: float) -> np.ndarray:
    """Shortest way (p,) along links from each point to a chosen one; infinite beyond `reach`."""
    places = welded(points)
    far = np.full(places.max(initial=-1) + 1, np.inf)
    far[places[inside]] = 0.0
    lengths = np.linalg.norm(points[links[:, 0]] - points[links[:, 1]], axis=1)
    ends, lengths = np.concatenate((places[links], places[links[:, ::-1]])), np.tile(lengths, 2)
    moved = np.isfinite(far)
    while moved.any():
        going = moved[ends[:, 0]]
        ways = far[ends[going, 0]] + lengths[going]
        before = far.copy()
        np.minimum.at(far, ends[going, 1][ways <= reach], ways[ways <= reach])
        moved = far < before
    return far[places]


def smoothed(values: np.ndarray, edges: np.ndarray, times: int) -> np.ndarray:
    """Values (p,) moved towards the mean of their neighbours along edges (e, 2), several times."""
    count = np.bincount(edges.ravel(), minlength=len(values))
    for _ in range(times):
        total = np.bincount(edges[:, 0], values[edges[:, 1]], len(values))
        total += np.bincount(edges[:, 1], values[edges[:, 0]], len(values))
        mean = np.divide(total, count, out=values.copy(), where=count > 0)
        values = values + SMOOTHING * (mean - values)
    return values


def in_box(points: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Points (p, 3) as fractions of a bounding box (2, 3), for comparing boxes of any size and place."""
    size = box[1] - box[0]
    return (points - box[0]) / np.where(size > 0.0, size, 1.0)


def interpolated(corners: np.ndarray, values: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Values (p,) at points (p, 3) of triangles with corners (p, 3, 3) and corner values (p, 3)."""
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    to = points - corners[:, 0]
    aa, ab, bb = (a * a).sum(1), (a * b).sum(1), (b * b).sum(1)
    at, bt = (a * to).sum(1), (b * to).sum(1)
    area = aa * bb - ab * ab
    flat = area <= 0.0
    area = np.where(flat, 1.0, area)
    u, v = (bb * at - ab * bt) / area, (aa * bt - ab * at) / area
    shares = np.clip(np.column_stack((1.0 - u - v, u, v)), 0.0, 1.0)
    shares[flat] = 1.0 / 3.0
    return (shares * values).sum(axis=1) / shares.sum(axis=1)
