"""Patches of a deforming collider, each of which moves as a rigid body."""

import numpy as np

from ..mesh import parts
from .colliders import polar

# Largest number of patches, and smallest number of their vertices.
MOST, FEWEST = 48, 6
# Number of patches of a mesh without bones, and rounds of their centres.
EVEN, ROUNDS = 48, 8


def of_bones(
    points: np.ndarray, triangles: np.ndarray, weights: np.ndarray
) -> tuple[list[np.ndarray], list[int]]:
    """Triangles (k,) of each patch, those of the heaviest bone of their corners; and the bone of each patch.

    points: (p, 3); triangles: (q, 3); weights: (p, b), of the vertices for each bone.
    """
    patches = of_labels(points, triangles, weights.argmax(axis=1))
    return patches, [int(weights[triangles[patch]].sum(axis=(0, 1)).argmax()) for patch in patches]


def even(points: np.ndarray, triangles: np.ndarray) -> list[np.ndarray]:
    """Triangles (k,) of each patch, alike in size: those nearest to one of a few centres."""
    used = np.unique(triangles)
    centres = points[used][farthest(points[used], min(EVEN, max(1, len(used) // FEWEST)))]
    for _ in range(ROUNDS):
        labels = nearest(points[used], centres)
        centres = np.array([points[used][labels == number].mean(axis=0) for number in np.unique(labels)])
    return of_labels(points, triangles, nearest(points, centres))


def farthest(points: np.ndarray, count: int) -> list[int]:
    """Indices of points far from each other, the first one included."""
    chosen, away = [0], np.linalg.norm(points - points[0], axis=1)
    while len(chosen) < count and away.max() > 0.0:
        chosen.append(int(away.argmax()))
        away = np.minimum(away, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return chosen


def nearest(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """The nearest centre (p,) of each point (p, 3)."""
    away = np.stack([np.linalg.norm(points - centre, axis=1) for centre in centres])
    return away.argmin(axis=0)


def of_labels(points: np.ndarray, triangles: np.ndarray, labels: np.ndarray) -> list[np.ndarray]:
    """Triangles (k,) of each patch from labels (p,) of the vertices; small patches join a neighbour.

    A triangle belongs to the most frequent label of its corners, or to the lowest.
    """
    places, corners = parts.welded(points), np.sort(labels[triangles], axis=1)
    patch = np.where(corners[:, 1] == corners[:, 2], corners[:, 1], corners[:, 0])
    while True:
        numbers = np.unique(patch)
        sizes = [len(np.unique(places[triangles[patch == number]])) for number in numbers]
        least = int(np.argmin(sizes))
        if len(numbers) == 1 or (sizes[least] >= FEWEST and len(numbers) <= MOST):
            return [np.flatnonzero(patch == number) for number in numbers]
        small = patch == numbers[least]
        patch[small] = neighbour(places[triangles], patch, small)


def neighbour(corners: np.ndarray, patch: np.ndarray, small: np.ndarray) -> int:
    """The patch that shares most corners with some triangles; the largest one if none does.

    corners: (q, 3), places of the corners of all triangles. patch: (q,). small: (q,), the triangles.
    """
    beside = ~small & np.isin(corners, np.unique(corners[small])).any(axis=1)
    found, counts = np.unique(patch[beside if beside.any() else ~small], return_counts=True)
    return int(found[counts.argmax()])


def of_motion(motion: np.ndarray, size: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """The placement (3, 4) of a patch of this size that moves by a matrix (3, 4), rigid but for the size.

    size: U (3, 3) of the object's own matrix `R U`. rest: (p, 3), vertices in object space; their middle goes
    where the matrix takes it.
    """
    (rotation,), _ = polar((motion[:, :3] @ np.linalg.pinv(size))[None])
    middle, turned = rest.mean(axis=0), rotation @ size
    return np.column_stack([turned, motion[:, :3] @ middle + motion[:, 3] - turned @ middle])


def placed(rest: np.ndarray, now: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rotation R (3, 3) and translation t (3,) with the least squares of `R x + t` from points (p, 3) at
    rest to these points now.
    """
    middles = rest.mean(axis=0), now.mean(axis=0)
    left, _, right = np.linalg.svd((now - middles[1]).T @ (rest - middles[0]))
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    rotation = left @ flip @ right
    return rotation, middles[1] - rotation @ middles[0]
