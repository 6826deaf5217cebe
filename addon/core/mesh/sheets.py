"""Sheets: surfaces without volume, open or as thin shells, with their rims."""

from dataclasses import dataclass

import numpy as np

from . import parts

# Least share of the edges that are open in an open surface.
OPEN = 0.01
# Cosine of the angle between faces from which on their edge is a crease; of a shell, the least area of its
# smaller side beside the larger one, and the largest thickness as a share of the size.
CREASE, ALIKE, THIN = 0.64, 0.6, 0.03
# Number of samples of a surface.
SAMPLES = 12_000


@dataclass(frozen=True, eq=False)
class Sheet:
    """A sheet. loops: points of each closed line of its rim. size: diagonal of the bounding box, metres.

    rim: length of the rim, metres. area: of one side, m^2.
    """

    loops: tuple[np.ndarray, ...]
    size: float
    rim: float
    area: float


def sheet(points: np.ndarray, triangles: np.ndarray) -> Sheet | None:
    """A loose part as a sheet; None if it is closed and no thin shell.

    points: (p, 3). triangles: (q, 3), of one loose part.
    """
    rows, corners = np.unique(triangles, return_inverse=True)
    own = points[rows]
    size = float(np.linalg.norm(np.ptp(own, axis=0)))
    # Coincident points count once.
    _, first, place = np.unique(parts.welded(own), return_index=True, return_inverse=True)
    faces = place.reshape(-1)[corners.reshape(-1, 3)]
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    places = own[first]
    rim = open_edges(faces)
    if len(rim) < OPEN * 1.5 * len(faces):
        side = shell_side(places, faces, size)
        if side is None:
            return None
        faces = faces[side]
        rim = open_edges(faces)
    if not len(rim):
        return None
    length = np.linalg.norm(places[rim[:, 0]] - places[rim[:, 1]], axis=1).sum()
    a, b, c = (places[corner] for corner in faces.T)
    area = 0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
    return Sheet(tuple(rows[first[loop]] for loop in loops(rim)), size, float(length), float(area))


def edges(faces: np.ndarray) -> np.ndarray:
    """The edges (3 q, 2) of triangles (q, 3), each with its lower point first."""
    return np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)


def open_edges(faces: np.ndarray) -> np.ndarray:
    """The edges (e, 2) of one face alone."""
    found, counts = np.unique(edges(faces), axis=0, return_counts=True)
    return found[counts == 1]


def loops(rim: np.ndarray) -> list[np.ndarray]:
    """The points of each connected line of edges (e, 2)."""
    known = np.unique(rim)
    links = np.searchsorted(known, rim)
    part_of = connected(len(known), links)
    return [known[part_of == number] for number in range(part_of.max() + 1)]


def connected(count: int, links: np.ndarray) -> np.ndarray:
    """The connected part (count,) of each node, numbered from 0. links: (e, 2)."""
    found = np.arange(count)
    while True:
        before, lowest = found.copy(), found[links].min(axis=1)
        for column in links.T:
            np.minimum.at(found, column, lowest)
        found = found[found]
        if np.array_equal(found, before):
            return np.unique(found, return_inverse=True)[1].reshape(-1)


def shell_side(points: np.ndarray, faces: np.ndarray, size: float) -> np.ndarray | None:
    """The faces (k,) of one side of a closed thin shell between its creases; None for any other surface."""
    a, b, c = (points[corner] - points.mean(axis=0) for corner in faces.T)
    normals = np.cross(b - a, c - a)
    areas = np.linalg.norm(normals, axis=1)
    volume = abs(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)
    if 4.0 * volume > THIN * size * areas.sum():
        return None
    units = normals / np.maximum(areas, np.finfo(float).tiny)[:, None]
    keys = edges(faces)
    order = np.lexsort(keys.T)
    twins = np.flatnonzero((keys[order][1:] == keys[order][:-1]).all(axis=1))
    pairs = np.stack([order[twins], order[twins + 1]], axis=1) % len(faces)
    smooth = pairs[np.einsum("ij,ij->i", units[pairs[:, 0]], units[pairs[:, 1]]) > CREASE]
    side_of = connected(len(faces), smooth)
    sides = np.bincount(side_of, areas)
    ranked = np.argsort(-sides)
    if len(ranked) < 2 or sides[ranked[1]] < ALIKE * sides[ranked[0]]:
        return None
    if sides[ranked[:2]].sum() < ALIKE * areas.sum():
        return None
    return np.flatnonzero(side_of == ranked[0])


def samples(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """About `SAMPLES` points (s, 3) spread over faces by area, at least one each, and their faces (s,)."""
    a, b, c = (points[corner] for corner in triangles.T)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    share = areas / max(areas.sum(), np.finfo(float).tiny)
    counts = np.maximum(1, np.round(SAMPLES * share)).astype(np.int64)
    faces = np.repeat(np.arange(len(triangles)), counts)
    number = np.arange(len(faces)) - np.repeat(np.cumsum(counts) - counts, counts)
    # A low-discrepancy sequence; folding keeps it in the triangle.
    u, v = (0.5 + number * 0.7548776662466927) % 1.0, (0.5 + number * 0.5698402909980532) % 1.0
    outside = u + v > 1.0
    u, v = np.where(outside, 1.0 - u, u), np.where(outside, 1.0 - v, v)
    shift = u[:, None] * (b - a)[faces] + v[:, None] * (c - a)[faces]
    return a[faces] + shift, faces
