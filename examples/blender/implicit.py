"""Closed surfaces from signed distances: blended shapes, and a quad mesh of their zero set.

Needs numpy only. Distances are negative inside; points are (n, 3) in metres.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Field = Callable[[np.ndarray], np.ndarray]


def ellipsoid(points: np.ndarray, centre: tuple[float, ...], radii: tuple[float, ...]) -> np.ndarray:
    """Distance to an ellipsoid, to first order near its surface."""
    offset = np.subtract(points, centre)
    unit = np.linalg.norm(offset / radii, axis=1)
    slope = np.linalg.norm(offset / np.square(radii), axis=1)
    return unit * (unit - 1.0) / np.maximum(slope, 1e-9)


def round_chain(points: np.ndarray, knots: np.ndarray, radii: np.ndarray, flat: float = 1.0) -> np.ndarray:
    """Distance to a bent tube through `knots` whose radius runs through `radii`.

    `flat` above 1 flattens the tube along y.
    """
    stretch = np.array([1.0, flat, 1.0])
    points, knots = points * stretch, np.asarray(knots) * stretch
    distance = np.full(len(points), np.inf)
    for start, end, near, far in zip(knots[:-1], knots[1:], radii[:-1], radii[1:], strict=True):
        along, gap = closest_on_segment(points, start, end)
        distance = np.minimum(distance, gap - (near + along * (far - near)))
    return distance / flat


def closest_on_segment(
    points: np.ndarray, start: np.ndarray, end: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Parameter in [0, 1] of the nearest point of a segment, and the distance to it."""
    axis = np.subtract(end, start)
    along = np.clip((points - start) @ axis / (axis @ axis), 0.0, 1.0)
    return along, np.linalg.norm(points - start - along[:, None] * axis, axis=1)


def smooth_path(knots: list, steps: int = 4) -> np.ndarray:
    """Catmull-Rom curve through `knots` (numbers or points), `steps` pieces between two of them."""
    knots = np.asarray(knots, dtype=float)
    ends = 2.0 * knots[[0, -1]] - knots[[1, -2]]
    padded = np.concatenate([ends[:1], knots, ends[1:]])
    t = np.linspace(0.0, 1.0, steps, endpoint=False).reshape((-1,) + (1,) * (knots.ndim - 1))
    pieces = []
    for a, b, c, d in zip(padded[:-3], padded[1:-2], padded[2:-1], padded[3:], strict=True):
        pieces.append(b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a))))
    return np.concatenate([*pieces, knots[-1:]])


def blend(first: np.ndarray, second: np.ndarray, width: float) -> np.ndarray:
    """Union of two shapes whose crease is filled over `width`."""
    overlap = np.maximum(width - np.abs(first - second), 0.0) / width
    return np.minimum(first, second) - overlap**3 * width / 6.0


def surface(
    field: Field, low: np.ndarray, high: np.ndarray, resolution: int, relaxations: int = 8
) -> tuple[np.ndarray, np.ndarray]:
    """Quads (q, 4) and points (p, 3) of the zero set of `field`, with outward normals.

    `resolution` is the number of cells along the longest side of the box, which must enclose the whole
    surface. One point is placed in each cell that the surface crosses (surface nets); then smoothing along
    the surface and projection back onto it alternate.
    """
    cell = float(np.max(np.subtract(high, low))) / resolution
    counts = np.ceil(np.subtract(high, low) / cell).astype(int) + 1
    axes = [start + cell * np.arange(count) for start, count in zip(low, counts, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    values = field(grid).reshape(counts)
    index, quads = _quads(values < 0.0)
    points = np.asarray(low) + cell * (np.argwhere(index >= 0) + 0.5)
    edges = np.unique(np.sort(np.concatenate([quads[:, [k, (k + 1) % 4]] for k in range(4)]), axis=1), axis=0)
    for _ in range(relaxations):
        points = _project(field, neighbour_mean(points, edges), cell)
    return points, quads


def neighbour_mean(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Mean of the values (p, k) over the neighbours along `edges` (e, 2)."""
    total = np.zeros_like(values)
    both = np.concatenate([edges, edges[:, ::-1]])
    np.add.at(total, both[:, 0], values[both[:, 1]])
    return total / np.bincount(both[:, 0], minlength=len(values))[:, None]


def _quads(inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Index of each cell's point (-1 for none), and a quad per grid edge across the surface."""
    cells = np.subtract(inside.shape, 1)
    corners = np.zeros(cells, dtype=np.int8)
    for shift in np.ndindex(2, 2, 2):
        corners += inside[tuple(slice(s, s + c) for s, c in zip(shift, cells, strict=True))]
    crossed = (corners > 0) & (corners < 8)
    index = np.full(cells, -1, dtype=np.int64)
    index[crossed] = np.arange(np.count_nonzero(crossed))
    quads = []
    for axis in range(3):
        u, v = np.eye(3, dtype=int)[[(axis + 1) % 3, (axis + 2) % 3]]
        near = np.take(inside, range(cells[axis]), axis)
        far = np.take(inside, range(1, cells[axis] + 1), axis)
        for edges, turn in ((near & ~far, 1), (far & ~near, -1)):
            at = np.argwhere(edges)
            ring = [at - u - v, at - v, at, at - u][::turn]
            quads.append(np.stack([index[tuple(cell.T)] for cell in ring], axis=1))
    return index, np.concatenate(quads)


def _project(field: Field, points: np.ndarray, cell: float) -> np.ndarray:
    """One Newton step onto the zero set."""
    step = 1e-2 * cell
    shifts = np.eye(3) * step
    slope = np.stack([field(points + s) - field(points - s) for s in shifts], axis=1) / (2.0 * step)
    length = np.maximum(np.einsum("ij,ij->i", slope, slope), 1e-6)
    move = (field(points) / length)[:, None] * slope
    reach = np.maximum(np.linalg.norm(move, axis=1, keepdims=True) / cell, 1.0)
    return points - move / reach
