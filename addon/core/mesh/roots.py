"""The root of a prop, found from its shape: where a plant stands, a lamp hangs, a rope is fastened."""

from dataclasses import dataclass
from enum import Enum

import jounce
import numpy as np

from ..common.user_error import passing_on
from . import parts

# Size `V^(1/3) / diagonal` of the flesh V: above, a body is stout, as balls, boxes and sacks are; below, a
# part is a sheet. Width of a sheet beside its length: above, it is wide, as a cloth is.
STOUT, EMPTY, WIDE = 0.3, 0.15, 0.5
CELLS = 24
# Distance from another object, as a share of the diagonal, up to which a vertex touches it.
NEAR = 0.01
# Share of the extent across which a root reaches, and distance of an origin from the end that is its root.
DEPTH, AT_END = 0.03, 0.15
# Largest share of the extent that touches another object without lying on it.
LYING = 0.5
# Share of the radius of one end beside that of the other: below, it is the thin end.
THIN = 0.6


class End(Enum):
    """The place of a root."""

    TOUCHES = "TOUCHES"
    PARENT = "PARENT"
    ORIGIN = "ORIGIN"
    THIN = "THIN"
    LOWEST = "LOWEST"


@dataclass(frozen=True, eq=False)
class Root:
    """A root. pinned: (p,) bool, the points there."""

    end: End
    pinned: np.ndarray


def is_slender(points: np.ndarray, triangles: np.ndarray) -> bool:
    """True for a body that sways: it is not stout, and most of its area is no wide sheet."""
    size = float(np.linalg.norm(np.ptp(points[triangles].reshape(-1, 3), axis=0)))
    if size == 0.0 or np.cbrt(flesh_of(points, triangles)) > STOUT * size:
        return False
    part_of = parts.labels(points, triangles)[triangles[:, 0]]
    a, b, c = (points[corner] for corner in triangles.T)
    areas = np.bincount(part_of, np.linalg.norm(np.cross(b - a, c - a), axis=1))
    largest = int(areas.argmax())
    return not (
        areas[largest] > 0.5 * areas.sum() and is_wide_sheet(points, triangles[part_of == largest], size)
    )


def is_wide_sheet(points: np.ndarray, triangles: np.ndarray, size: float) -> bool:
    """True for a loose part that encloses nothing and is about as wide as long. size: of the body, metres."""
    own = points[np.unique(triangles)]
    away = own - own.mean(axis=0)
    extents = np.ptp(away @ np.linalg.svd(away, full_matrices=False)[2].T, axis=0)
    return bool(
        np.cbrt(flesh_of(points, triangles)) < EMPTY * size and np.sort(extents)[1] > WIDE * extents.max()
    )


def flesh_of(points: np.ndarray, triangles: np.ndarray) -> float:
    """Volume inside of a surface, m^3."""
    rows, faces = np.unique(triangles, return_inverse=True)
    with passing_on("The body cannot be filled with cells"):
        own, faces = np.ascontiguousarray(points[rows]), faces.reshape(-1, 3)
        return float(np.asarray(jounce.TetMesh.lattice(own, faces, CELLS, solid=True).volumes).sum())


def found(
    points: np.ndarray,
    triangles: np.ndarray,
    gaps: np.ndarray,
    origin: np.ndarray,
    parent: np.ndarray | None,
) -> Root | None:
    """The root of a slender body, None for one that lies on something or floats.

    gaps: (p,) metres, distance of each point from the nearest other object, infinite beyond reach. origin:
    (3,) of the object. parent: (3,), where it is parented, None without a parent.
    """
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    used = np.zeros(len(points), bool)
    used[triangles] = True
    touching = used & (gaps <= NEAR * size)
    if touching.any():
        return None if lies(points, touching) else Root(End.TOUCHES, touching)
    axis = long_axis(points[used])
    along = points @ axis
    low, high = along[used].min(), along[used].max()
    ends = {
        sign: used & (np.abs(along - end) <= DEPTH * (high - low)) for sign, end in ((-1, low), (1, high))
    }
    for end, place in ((End.PARENT, parent), (End.ORIGIN, origin)):
        share = None if place is None else (place @ axis - low) / (high - low)
        if share is not None and min(abs(share), abs(share - 1.0)) <= AT_END:
            return Root(end, ends[-1 if share < 0.5 else 1])
    thin = thin_end(points[used], axis)
    if thin:
        return Root(End.THIN, ends[thin])
    if parent is None and abs(axis[2]) < np.sqrt(0.5):
        return None
    height = points[:, 2]
    bottom = height[used].min()
    return Root(End.LOWEST, used & (height <= bottom + DEPTH * np.ptp(height[used])))


def lies(points: np.ndarray, touching: np.ndarray) -> bool:
    """True if most of the length of a body touches, without a gap between its ends."""
    along = points @ long_axis(points)
    at = np.sort(along[touching])
    gap = np.diff(at).max(initial=0.0)
    extent = np.ptp(along)
    return bool(at[-1] - at[0] > LYING * extent and gap < LYING * extent)


def long_axis(points: np.ndarray) -> np.ndarray:
    """The direction (3,) of the longest extent, upwards."""
    axis = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)[2][0]
    return axis if axis[2] >= 0.0 else -axis


def thin_end(points: np.ndarray, axis: np.ndarray) -> int:
    """The end along an axis that is much thinner than the other one: -1 or 1; 0 without one."""
    along = points @ axis
    share = (along - along.min()) / np.ptp(along)
    across = points - np.outer(along, axis)
    wide = []
    for third in (share <= 1.0 / 3.0, share >= 2.0 / 3.0):
        own = across[third]
        wide.append(np.linalg.norm(own - own.mean(axis=0), axis=1).mean())
    if min(wide) >= THIN * max(wide):
        return 0
    return -1 if wide[0] < wide[1] else 1
