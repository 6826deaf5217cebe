"""Connected vertices of a mesh."""

import numpy as np

# Vertices closer than this share of the size count as coincident.
SEAM = 1e-5


def welded(points: np.ndarray) -> np.ndarray:
    """A number (p,) i64 for the place of each point (p, 3), equal for coincident points."""
    place = max(SEAM * float(np.ptp(points, axis=0).max()), np.finfo(float).tiny)
    return np.unique(np.round(points / place), axis=0, return_inverse=True)[1].reshape(-1)


def labels(points: np.ndarray, links: np.ndarray) -> np.ndarray:
    """The loose part (p,) i64 of each point (p, 3), numbered from 0.

    links: (k, n), connected points, such as edges or triangles. Coincident points are connected too: file
    formats split vertices along seams, importers at discontinuous normals or UVs.
    """
    if len(points) == 0:
        return np.empty(0, np.int64)
    places = welded(points)
    links = places[links]
    found = np.arange(places.max() + 1)
    while True:
        lowest = found[links].min(axis=1)
        before = found.copy()
        for column in links.T:
            np.minimum.at(found, column, lowest)
        found = found[found]
        if np.array_equal(found, before):
            return np.unique(found[places], return_inverse=True)[1].reshape(-1)
