"""Convex hulls of the flesh around bones, which clothes must not enter."""

from dataclasses import dataclass

import numpy as np

# Smallest number of points of a hull, and smallest extent as a share of the diagonal.
FEWEST, SHORT = 8, 0.06
# Distance of clothes at rest from a hull, as a share of the diagonal; shares of its size in which a hull is
# tried until it keeps this distance.
BESIDE, SIZES = 0.002, (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5)


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex body at rest. points: (p, 3), metres. faces: (f, 3)."""

    points: np.ndarray
    faces: np.ndarray

    def distances(self, places: np.ndarray) -> np.ndarray:
        """Distance (k,) of places (k, 3) from the nearest plane of a face, negative inside."""
        a, b, c = (self.points[corner] for corner in self.faces.T)
        normals = np.cross(b - a, c - a)
        normals /= np.maximum(np.linalg.norm(normals, axis=1), np.finfo(float).tiny)[:, None]
        return (places @ normals.T - np.einsum("ij,ij->i", normals, a)).max(axis=1)

    def beside(self, cloth: np.ndarray, diagonal: float) -> "Hull | None":
        """The hull, small enough to leave clothes (k, 3) at rest outside; None for none."""
        middle = self.points.mean(axis=0)
        for size in SIZES:
            made = Hull(middle + size * (self.points - middle), self.faces)
            if made.distances(cloth).min() >= BESIDE * diagonal:
                return made
        return None


def flesh(points: np.ndarray, weights: np.ndarray, pieces: list[np.ndarray]) -> list[tuple[int, np.ndarray]]:
    """The points (k, 3) of each loose part around each bone, with the bone; small ones aside.

    points: (p, 3). weights: (p, b). pieces: the points of each loose part.
    """
    least, main = SHORT * float(np.linalg.norm(np.ptp(points, axis=0))), weights.argmax(axis=1)
    found = []
    for rows in pieces:
        for bone in np.unique(main[rows]).tolist():
            own = points[rows[main[rows] == bone]]
            if len(own) >= FEWEST and np.sort(np.ptp(own, axis=0))[1] >= least:
                found.append((bone, own))
    return found
