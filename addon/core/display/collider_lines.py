"""Lines that draw colliders in their effective shape."""

import numpy as np

from ..body.colliders import Kind, Solid, axis, closed, facing_of, kind_of, middle, normal, polar

# Corners of a circle, and cells along a side of a plane's grid.
SIDES, CELLS = 32, 8


def lines(solid: Solid, matrix: np.ndarray) -> np.ndarray:
    """Lines (l, 2, 3) in the world, metres, of a collider placed by a matrix (3, 4)."""
    rotations, sizes = polar(matrix[None])
    points = solid.points @ sizes[0].T
    triangles = facing_of(solid.triangles, sizes[0])
    own = outline(kind_of(solid, points), points, triangles)
    return own @ rotations[0].T + matrix[:, 3]


def outline(kind: Kind, points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Lines (l, 2, 3) of the shape fitted to points (p, 3)."""
    center, half = middle(points)
    if kind is Kind.PLANE:
        return grid(points, triangles)
    if kind is Kind.SPHERE:
        return center + np.concatenate([circle(turn, float(half.mean())) for turn in np.eye(3)])
    if kind is Kind.CAPSULE:
        return rod(*axis(points))
    if kind is Kind.BOX:
        return center + half * edges_of_box()
    points, triangles = closed(points, triangles)
    sides = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    return points[sides]


def grid(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """A square grid in a plane, as wide as the points, with a tick on the free side."""
    up = normal(points, triangles)
    up = up / np.linalg.norm(up)
    across = np.linalg.svd(up[None])[2][1:]
    reach = 0.5 * float(np.ptp(points, axis=0).max())
    steps = reach * np.linspace(-1.0, 1.0, CELLS + 1)
    ends = reach * np.array([-1.0, 1.0])
    lines = [steps[:, None, None] * across[one] + ends[None, :, None] * across[1 - one] for one in (0, 1)]
    tick = np.array([[np.zeros(3), reach / CELLS * up]])
    return points.mean(axis=0) + np.concatenate([*lines, tick])


def circle(turn: np.ndarray, radius: float) -> np.ndarray:
    """A circle (l, 2, 3) about an axis through the origin."""
    right, up = radius * np.linalg.svd(turn[None])[2][1:]
    return arc(right, up, 2.0 * np.pi)


def arc(right: np.ndarray, up: np.ndarray, angle: float) -> np.ndarray:
    """A part (l, 2, 3) of the circle spanned by two radii, from the first in the direction of the second."""
    angles = angle * np.arange(SIDES + 1) / SIDES
    ring = np.cos(angles)[:, None] * right + np.sin(angles)[:, None] * up
    return np.stack([ring[:-1], ring[1:]], axis=1)


def rod(start: np.ndarray, end: np.ndarray, radius: float) -> np.ndarray:
    """A capsule: a circle around each end, and outlines from two sides."""
    along = end - start
    length = float(np.linalg.norm(along))
    turn = along / length if length > 0.0 else np.eye(3)[2]
    own = [start + circle(turn, radius), end + circle(turn, radius)]
    for side in radius * np.linalg.svd(turn[None])[2][1:]:
        own.append(start + arc(side, -radius * turn, np.pi))
        own.append(end + arc(side, radius * turn, np.pi))
        own.append(np.array([[start + side, end + side], [start - side, end - side]]))
    return np.concatenate(own)


def edges_of_box() -> np.ndarray:
    """The edges (12, 2, 3) of a cube from -1 to 1."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    pairs = [(a, b) for a in range(8) for b in range(a) if np.abs(corners[a] - corners[b]).sum() == 2.0]
    return corners[np.array(pairs)]
