"""Domains of a pinned body: pieces of its loose parts, each attached to one nearer to the root.

A loose part is filled with a cage of its own, so that leaves that touch stay apart. Parts with pinned points
are attached to the root, every other one to a part that it touches, on the shortest way to the root. A part
is cut across that way, and where it branches into several pieces.
"""

from dataclasses import dataclass

import jounce
import numpy as np

from ..common.user_error import passing_on
from ..mesh import parts
from ..mesh.map_shapes import distances

# Fewest cells along the longest side of a loose part.
FEWEST_CELLS = 6
# Distance in cells of a point of one loose part from the cage of another up to which they touch, radius in
# cells in which a part is held there, and distance that counts as one more part on the way to the root, as a
# share of the size.
NEAR, HELD, FAR = 0.87, 1.5, 0.005
# Vertices of a cage that stand for it in the search of touching parts, and vertices of an interface.
SAMPLES, INTERFACE = 200, 12
# Fewest tets of a piece that has a neighbour: two cells.
FEWEST_TETS = 10
# Smallest extent of an interface across its longest side, as a share of that side: below it is a line.
LINE = 1e-3


@dataclass(frozen=True, eq=False)
class Cage:
    """The tets around one loose part. rows: (p,) of its points in the surface. edge: of a cell, metres."""

    rows: np.ndarray
    mesh: "jounce.TetMesh"
    embedding: "jounce.Embedding"
    edge: float


@dataclass(frozen=True, eq=False)
class Piece:
    """One domain.

    vertices: (n,) of the common cage. tets: (q, 4) of these vertices. held: (h,) of these vertices, attached
    to the parent. parent: number of an earlier piece, -1 for the root. interface: (i,) vertices of the common
    cage, of the parent; empty at the root.
    """

    vertices: np.ndarray
    tets: np.ndarray
    held: np.ndarray
    parent: int
    interface: np.ndarray


def cages(points: np.ndarray, triangles: np.ndarray, resolution: int) -> list[Cage]:
    """A cage for each loose part of a surface. resolution: cells along the longest side of all."""
    part_of = parts.labels(points, triangles)
    size = float(np.ptp(points, axis=0).max())
    found = []
    with passing_on("The body cannot be filled with cells"):
        for part in np.unique(part_of[triangles]):
            rows = np.flatnonzero(part_of == part)
            number = np.full(len(points), -1)
            number[rows] = np.arange(len(rows))
            own = np.ascontiguousarray(points[rows])
            faces = number[triangles[part_of[triangles[:, 0]] == part]]
            longest = float(np.ptp(own, axis=0).max())
            cells = max(FEWEST_CELLS, round(resolution * longest / size))
            mesh = jounce.TetMesh.lattice(own, faces, cells)
            found.append(Cage(rows, mesh, jounce.Embedding(mesh, own), longest / cells))
    return found


def pieces(found: list[Cage], pinned: np.ndarray, count: int) -> list[Piece]:
    """The pieces of all cages, parents first. pinned: (p,) bool. count: pieces along the longest way."""
    offsets = np.cumsum([0, *(len(cage.mesh.vertices) for cage in found)])
    places = np.concatenate([cage.mesh.vertices for cage in found])
    roots, order, above = attached(found, pinned)
    held = {part: roots[part] for part in order if above[part] < 0}
    for part in order:
        if above[part] >= 0:
            held[part] = touching(found[part], found[above[part]])
    ways = {part: lengths(found[part].mesh, held[part]) for part in order}
    longest = max(float(way[np.isfinite(way)].max(initial=0.0)) for way in ways.values())
    made: list[Piece] = []
    of_part: dict[int, range] = {}
    for part in order:
        mesh, start, first = found[part].mesh, offsets[part], len(made)
        cuts = cut(np.asarray(mesh.tets), ways[part], held[part], longest / count, np.asarray(mesh.vertices))
        for each in cuts:
            if each.parent >= 0:
                parent, interface = first + each.parent, each.vertices[each.held]
                made.append(moved(each, start, parent, interface + start))
            elif above[part] < 0:
                made.append(moved(each, start, -1, np.empty(0, np.int64)))
            else:
                near = places[start + each.vertices[each.held]]
                parent = nearest(made, of_part[above[part]], places, near.mean(axis=0))
                interface = patch(made[parent], places, near)
                # A part that is too far from all others is fixed at the root.
                made.append(moved(each, start, parent if len(interface) else -1, interface))
        of_part[part] = range(first, len(made))
    return made


def moved(piece: Piece, start: int, parent: int, interface: np.ndarray) -> Piece:
    """A piece of a cage that starts at a vertex of the common one."""
    return Piece(piece.vertices + start, piece.tets, piece.held, parent, interface)


def attached(found: list[Cage], pinned: np.ndarray) -> tuple[list[np.ndarray], list[int], np.ndarray]:
    """Pinned vertices (n,) bool of each cage, the parts from the root on, and the part above each, or -1.

    The shortest way to the root: each part counts one, and a gap as many as it is longer than touching parts
    have.
    """
    roots = [corners(cage, pinned[cage.rows]) for cage in found]
    size = float(np.linalg.norm(np.ptp(np.concatenate([cage.mesh.vertices for cage in found]), axis=0)))
    vertices = [sampled(np.asarray(cage.mesh.vertices)) for cage in found]
    points = [sampled(np.asarray(cage.embedding.points)) for cage in found]
    # The cages' boxes, by a cell smaller: no gap is less than that between them.
    boxes = np.stack([[each.min(axis=0), each.max(axis=0)] for each in vertices])
    boxes += np.array([cage.edge for cage in found])[:, None, None] * np.array([1.0, -1.0])[None, :, None]

    def gap(one: int, other: int) -> float:
        pairs = (one, other), (other, one)
        apart = (np.sqrt(squares(points[a], vertices[b]).min()) - NEAR * found[b].edge for a, b in pairs)
        return max(0.0, float(min(apart)))

    far = np.array([0.0 if root.any() else np.inf for root in roots])
    above, waiting, order = np.full(len(found), -1), np.ones(len(found), bool), []
    while waiting.any():
        part = int(np.where(waiting, far, np.inf).argmin())
        waiting[part] = False
        order.append(part)
        between = np.maximum(boxes[:, 0] - boxes[part, 1], boxes[part, 0] - boxes[:, 1])
        least = np.linalg.norm(np.maximum(between, 0.0), axis=1) / (FAR * size)
        for other in np.flatnonzero(waiting & (far > far[part] + 1.0 + least)):
            way = far[part] + 1.0 + gap(part, int(other)) / (FAR * size)
            if way < far[other]:
                far[other], above[other] = way, part
    return roots, order, above


def corners(cage: Cage, pinned: np.ndarray) -> np.ndarray:
    """Vertices (n,) bool of all tets with a pinned point."""
    held = np.zeros(len(cage.mesh.vertices), bool)
    held[cage.mesh.tets[cage.embedding.tets[pinned]]] = True
    return held


def sampled(vertices: np.ndarray) -> np.ndarray:
    """Vertices that stand for all."""
    return vertices[:: max(1, len(vertices) // SAMPLES)]


def squares(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Squared distances (k, l) between points (k, 3) and (l, 3)."""
    return np.maximum((one**2).sum(1)[:, None] - 2.0 * one @ other.T + (other**2).sum(1), 0.0)


def touching(cage: Cage, parent: Cage) -> np.ndarray:
    """Vertices (n,) bool of a cage held by the parent: those near its nearest place, at least a face."""
    vertices = np.asarray(cage.mesh.vertices)
    apart = np.sqrt(squares(vertices, np.asarray(parent.mesh.vertices)).min(axis=1))
    middle = vertices[apart <= apart.min() + 0.5 * cage.edge].mean(axis=0)
    tets = np.asarray(cage.mesh.tets)
    first = np.linalg.norm(vertices[tets].mean(axis=1) - middle, axis=1).argmin()
    held = np.linalg.norm(vertices - middle, axis=1) <= HELD * cage.edge
    held[tets[first]] = True
    return held


def lengths(mesh: "jounce.TetMesh", held: np.ndarray) -> np.ndarray:
    """Length (n,) of the shortest way along edges from each vertex to a held one."""
    tets = np.asarray(mesh.tets)
    links = np.concatenate([tets[:, [a, b]] for a, b in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))])
    return distances(np.asarray(mesh.vertices), np.unique(np.sort(links, axis=1), axis=0), held, np.inf)


def cut(
    tets: np.ndarray, way: np.ndarray, held: np.ndarray, length: float, vertices: np.ndarray
) -> list[Piece]:
    """The pieces of one cage, in its own numbers, parents first. way: (n,). length: of a piece, metres.

    Pieces that meet again beyond a common one are one piece, since a tree has no circles; so are pieces that
    touch along a line alone, which would be a hinge.
    """
    band = np.minimum(way[tets].mean(axis=1), way[np.isfinite(way)].max()) / length
    label = connected(tets, np.floor(band).astype(np.int64))
    level = np.array([int(band[label == each].min()) for each in range(label.max() + 1)])
    while True:
        merged, parent = joined(tets, label, level, held, vertices)
        if merged is None:
            break
        label, level = merged
    order = np.argsort(level, kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    found: list[Piece] = []
    for each in order:
        own = tets[label == each]
        rows = np.unique(own)
        above = int(parent[each])
        shared = held[rows] if above < 0 else np.isin(rows, tets[label == above])
        found.append(
            Piece(
                rows,
                np.searchsorted(rows, own),
                np.flatnonzero(shared),
                -1 if above < 0 else int(number[above]),
                np.empty(0, np.int64),
            )
        )
    return found


def connected(tets: np.ndarray, band: np.ndarray) -> np.ndarray:
    """Number (q,) of the piece of each tet: tets of one band, connected by faces."""
    faces = np.sort(np.concatenate([np.delete(tets, corner, axis=1) for corner in range(4)]), axis=1)
    owner = np.tile(np.arange(len(tets)), 4)
    _, face = np.unique(faces, axis=0, return_inverse=True)
    order = np.argsort(face.reshape(-1), kind="stable")
    same = np.flatnonzero(np.diff(face.reshape(-1)[order]) == 0)
    pairs = np.stack([owner[order[same]], owner[order[same + 1]]], axis=1)
    pairs = pairs[band[pairs[:, 0]] == band[pairs[:, 1]]]
    return components(len(tets), pairs)


def components(count: int, pairs: np.ndarray) -> np.ndarray:
    """Number (count,) of the connected set of each item. pairs: (k, 2)."""
    found = np.arange(count)
    while True:
        before = found.copy()
        lowest = found[pairs].min(axis=1)
        np.minimum.at(found, pairs[:, 0], lowest)
        np.minimum.at(found, pairs[:, 1], lowest)
        found = found[found]
        if np.array_equal(found, before):
            return np.unique(found, return_inverse=True)[1].reshape(-1)


def joined(
    tets: np.ndarray, label: np.ndarray, level: np.ndarray, held: np.ndarray, vertices: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray] | None, np.ndarray]:
    """Labels and levels with pieces merged that make no tree, or None, and the parent of each piece."""
    rows = [np.unique(tets[label == each]) for each in range(label.max() + 1)]
    parent, pairs = np.full(len(rows), -1), []
    tiny = np.bincount(label) < FEWEST_TETS
    for each, own in enumerate(rows):
        if held[own].any() and is_wide(vertices[own[held[own]]]) and not tiny[each]:
            continue
        shared = [np.intersect1d(own, other) if other is not own else own[:0] for other in rows]
        bears = [
            other
            for other, common in enumerate(shared)
            if level[other] < level[each] and len(common) > 2 and is_wide(vertices[common])
        ]
        if bears and not tiny[each]:
            parent[each] = bears[0]
            pairs += [(bears[0], other) for other in bears[1:]]
        elif len(rows) > 1:
            pairs.append((each, int(np.argmax([len(common) for common in shared]))))
    if not pairs:
        return None, parent
    new = components(len(rows), np.array(pairs))
    levels = np.full(new.max() + 1, np.iinfo(np.int64).max)
    np.minimum.at(levels, new, level)
    return (new[label], levels), parent


def is_wide(points: np.ndarray) -> bool:
    """True for points (k, 3) that do not lie on one line."""
    if len(points) < 3:
        return False
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(spread[1] > LINE * spread[0])


def nearest(made: list[Piece], among: range, places: np.ndarray, near: np.ndarray) -> int:
    """Number of the piece with the vertex nearest to a place."""
    gaps = [np.linalg.norm(places[made[each].vertices] - near, axis=1).min() for each in among]
    return among[int(np.argmin(gaps))]


def patch(piece: Piece, places: np.ndarray, near: np.ndarray) -> np.ndarray:
    """Vertices of a piece around places (k, 3), as far as to these, not on one line; empty if too far."""
    middle = near.mean(axis=0)
    gaps = np.linalg.norm(places[piece.vertices] - middle, axis=1)
    order = piece.vertices[np.argsort(gaps, kind="stable")]
    reach = np.linalg.norm(near - middle, axis=1).max()
    count = min(INTERFACE, len(order))
    while True:
        chosen = places[order[:count]]
        about = np.linalg.norm(chosen - chosen.mean(axis=0), axis=1).max()
        if is_wide(chosen) and np.linalg.norm(chosen.mean(axis=0) - middle) < about + reach:
            return order[:count]
        if count == len(order):
            return order[:0]
        count = min(2 * count, len(order))
