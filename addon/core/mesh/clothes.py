"""Clothes of a character, found from shape and rig: capes, skirts, loincloths, hair cards and flat ears.

A cloth is a loose part without volume that leaves the skin: held at one edge, free at the other. It is a
*ring* around both legs, held above them, or a *flap* on the trunk or the head, which hangs down or stands on
the head. Two flaps alike with a bone each are wings, which the animator moves.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..rig.limbs import Limb, Skeleton
from . import parts, sheets

# All lengths are shares of the character's diagonal. Least size of a cloth, and distance of its free edge
# from the skin: of a flap, and of a ring around legs.
SIZE, FREE, AROUND = 0.1, 0.03, 0.01
# Distance from the skin from which on a point is off it, and least share of such points in a flap.
OFF, OFF_SHARE = 0.012, 0.35
# Distance of the held edge from the skin, as a share of that of the free edge.
NEARER = 0.6
# Share of the extent along which an edge reaches, and distance of its points from the rim, as a share of the
# size: a crown, which is no edge, is farther.
EDGE, RIM = 0.12, 0.15
# Least square of the length of a flap's rim beside its area: a flat one has 4 pi or more, a cup less.
FLAT = 10.0
# Largest weight of arms, and of legs in a flap; least weight of a flap's main bone on the head.
ARMS, LEGS, HEAD = 0.1, 0.1, 0.85
# Share of a flap on its own bone, and of that bone on the flap; difference of two flaps alike, as a share of
# the size.
OWN, ALIKE = 0.9, 0.02
# Least cosine of the way from the held to the free edge with the vertical, of a flap that hangs.
DOWN = 0.5
# Least share of the height of a ring that hangs below the hips.
HANGING = 0.4
# Largest number of points of a part that are measured.
MEASURED = 400
# Hold of the map Pin: firm up to this share of the way to the free edge, and from the second share on as soft
# as a spring of the second frequency, that of a weight of one is the first; Hz.
FIRM, LOOSE = 0.13, 0.5
HELD, SWINGS = 60.0, 1.5
# Damping ratio, as the air slows a cloth, and bending stiffness, with which few vertices fold smoothly.
DAMPING, BENDING = 0.35, 100.0


@dataclass(frozen=True, eq=False)
class Cloth:
    """A loose part that is a cloth.

    rows: (k,) points of the surface. hold: (k,) in [0, 1], weights of its map Pin. is_ring: true around legs.
    """

    rows: np.ndarray
    hold: np.ndarray
    is_ring: bool


@dataclass(frozen=True, eq=False)
class Piece:
    """A loose part. rows: (k,) its points. triangles: (q, 3) of the surface's points."""

    rows: np.ndarray
    triangles: np.ndarray


@dataclass(frozen=True, eq=False)
class Dressed:
    """A character: its surface at rest, metres, and its bones.

    points: (p, 3). weights: (p, b). skin: (s, 3), samples of the faces of all but clothes. piece_of: (s,) the
    loose part of each.
    """

    points: np.ndarray
    weights: np.ndarray
    skeleton: Skeleton
    size: float
    skin: np.ndarray
    piece_of: np.ndarray

    def gaps(self, number: int, rows: np.ndarray) -> np.ndarray:
        """Distance (k,) of points of a part from the skin of all others, as a share of the size."""
        others, places = self.skin[self.piece_of != number], self.points[rows]
        if not len(others):
            return np.full(len(rows), np.inf)
        squares = (others**2).sum(axis=1)
        nearest = np.array([(squares - 2.0 * (others @ place)).min() + place @ place for place in places])
        return np.sqrt(np.maximum(nearest, 0.0)) / self.size

    def share(self, rows: np.ndarray, bones: np.ndarray) -> float:
        """Mean weight of some bones at points."""
        return float(self.weights[np.ix_(rows, bones)].sum() / len(rows)) if len(bones) else 0.0


def found(
    points: np.ndarray,
    triangles: np.ndarray,
    weights: np.ndarray,
    meshes: Iterable[slice],
    skeleton: Skeleton,
) -> list[Cloth]:
    """The clothes of a character. meshes: rows of the points of each mesh."""
    used = np.unique(triangles)
    if not len(used):
        return []
    pieces = pieces_of(points, triangles, meshes)
    # Who has no limbs, such as a fish, wears nothing.
    if len(pieces) < 2 or not (skeleton.limbs.legs or len(skeleton.limbs.arms)):
        return []
    size = float(np.linalg.norm(np.ptp(points[used], axis=0)))
    skin, faces = sheets.samples(points, triangles)
    piece_of = np.empty(len(triangles), np.int64)
    for number, (_, own) in enumerate(pieces):
        piece_of[own] = number
    clothes: dict[int, Cloth] = {}
    while True:
        # Clothes over clothes are off the skin all the same.
        bare = ~np.isin(piece_of[faces], list(clothes))
        dressed = Dressed(points, weights, skeleton, size, skin[bare], piece_of[faces][bare])
        rest = ((n, Piece(rows, triangles[own])) for n, (rows, own) in enumerate(pieces) if n not in clothes)
        more = {n: made for n, piece in rest if (made := cloth(dressed, n, piece)) is not None}
        if not more:
            return [clothes[number] for number in sorted(clothes)]
        clothes |= more


def pieces_of(
    points: np.ndarray, triangles: np.ndarray, meshes: Iterable[slice]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Points and faces of each loose part of each mesh."""
    pieces = []
    for rows in meshes:
        own = np.flatnonzero((triangles[:, 0] >= rows.start) & (triangles[:, 0] < rows.stop))
        if not len(own):
            continue
        part_of = parts.labels(points[rows], triangles[own] - rows.start)
        of_face = part_of[triangles[own, 0] - rows.start]
        order = np.argsort(of_face, kind="stable")
        for faces in np.split(own[order], np.flatnonzero(np.diff(of_face[order])) + 1):
            pieces.append((np.unique(triangles[faces]), faces))
    return pieces


def cloth(dressed: Dressed, number: int, piece: Piece) -> Cloth | None:
    """A loose part as a cloth, None for any other."""
    extent = float(np.linalg.norm(np.ptp(dressed.points[piece.rows], axis=0)))
    limbs = dressed.skeleton.limbs
    if extent < SIZE * dressed.size or dressed.share(piece.rows, limbs.arms) > ARMS:
        return None
    sheet = sheets.sheet(dressed.points, piece.triangles)
    if sheet is None:
        return None
    for kind in (ring, flap):
        way = kind(dressed, number, piece, sheet)
        if way is not None:
            return Cloth(piece.rows, hold(way), kind is ring)
    return None


def ring(dressed: Dressed, number: int, piece: Piece, sheet: sheets.Sheet) -> np.ndarray | None:
    """The way (k,) of each point of a skirt from its held edge to its hem, 0 to 1; None for another part."""
    points, height = dressed.points, dressed.points[piece.rows, 2]
    top, band = float(height.max()), float(height.min() + EDGE * np.ptp(height))
    hems = (loop[points[loop, 2] <= band] for loop in sheet.loops)
    around = [
        (hem, pair) for hem in hems for pair in dressed.skeleton.limbs.legs if encloses(points[hem], pair)
    ]
    crown = piece.rows[height >= top - EDGE * np.ptp(height)]
    if not around or not is_rim(points, evenly(crown), sheet):
        return None
    hem, legs = around[0]
    low = float(points[hem, 2].mean())
    hips = max(limb.start[2] for limb in legs)
    if hips - low < HANGING * (top - low):
        return None
    if np.median(dressed.gaps(number, evenly(hem))) < AROUND:
        return None
    held = min(top, hips) if min(top, hips) - low > 0.5 * (top - low) else top
    return np.clip((held - height) / (held - low), 0.0, 1.0)


def flap(dressed: Dressed, number: int, piece: Piece, sheet: sheets.Sheet) -> np.ndarray | None:
    """The way (k,) of each point of a flap from its held to its free edge; None for any other part."""
    if sheet.rim**2 < FLAT * sheet.area or dressed.share(piece.rows, dressed.skeleton.limbs.of_legs) > LEGS:
        return None
    rows = evenly(piece.rows)
    gaps, places = dressed.gaps(number, rows), dressed.points[rows]
    if np.mean(gaps > OFF) < OFF_SHARE or is_wing(dressed, piece):
        return None
    best: tuple[float, np.ndarray] | None = None
    for axis in axes(places):
        along = places @ axis
        share = (along - along.min()) / np.ptp(along)
        held, free = share <= EDGE, share >= 1.0 - EDGE
        if not is_rim(dressed.points, rows[held], sheet) or not is_rim(dressed.points, rows[free], sheet):
            continue
        near, far = float(np.median(gaps[held])), float(np.median(gaps[free]))
        if far < FREE or near > NEARER * far or not is_placed(dressed, piece, axis):
            continue
        if best is None or far - near > best[0]:
            own = dressed.points[piece.rows] @ axis
            best = far - near, (own - own.min()) / np.ptp(own)
    return None if best is None else best[1]


def axes(places: np.ndarray) -> list[np.ndarray]:
    """Directions (3,) from edge to edge of a flap: vertical and along its length, both ways."""
    long = np.linalg.svd(places - places.mean(axis=0), full_matrices=False)[2][0]
    upright = np.array([0.0, 0.0, 1.0])
    return [sign * axis for axis in (upright, long) for sign in (-1.0, 1.0) if np.ptp(places @ axis) > 0.0]


def is_rim(points: np.ndarray, rows: np.ndarray, sheet: sheets.Sheet) -> bool:
    """True if the points at one end of a sheet are near its rim, and no crown or tip of a hollow."""
    rim = points[np.concatenate(sheet.loops)]
    away = [np.sqrt(((rim - place) ** 2).sum(axis=1).min()) for place in points[rows]]
    return bool(np.median(away) <= RIM * sheet.size)


def is_placed(dressed: Dressed, piece: Piece, axis: np.ndarray) -> bool:
    """True for a flap that hangs down, or is on the head alone. axis: (3,) from the held to the free edge."""
    if axis[2] <= -DOWN:
        return True
    share = dressed.weights[piece.rows].mean(axis=0)
    main = int(share.argmax())
    return bool(share[main] >= HEAD and main in dressed.skeleton.limbs.heads)


def is_wing(dressed: Dressed, piece: Piece) -> bool:
    """True for one of two flaps alike that have a bone each: the animator moves these."""
    weights, skeleton = dressed.weights, dressed.skeleton
    main = int(weights[piece.rows].sum(axis=0).argmax())
    own = weights[piece.rows, main].sum()
    parent = int(skeleton.parents[main])
    if parent < 0 or own < OWN * max(len(piece.rows), weights[:, main].sum()):
        return False
    mine, joint = middle(dressed, main), skeleton.heads[parent]
    for other in np.flatnonzero(skeleton.parents == parent).tolist():
        if other != main and weights[:, other].any():
            theirs = middle(dressed, other)
            apart = np.linalg.norm(mine - joint) - np.linalg.norm(theirs - joint), mine[2] - theirs[2]
            is_alike = np.abs(apart).max() <= ALIKE * dressed.size
            if is_alike and np.linalg.norm(mine - theirs) > SIZE * dressed.size:
                return True
    return False


def middle(dressed: Dressed, bone: int) -> np.ndarray:
    """The mean place (3,) of what a bone moves."""
    return np.average(dressed.points, axis=0, weights=dressed.weights[:, bone])


def encloses(loop: np.ndarray, pair: tuple[Limb, Limb]) -> bool:
    """True if a loop (k, 3) of an edge goes around both legs, below their joints."""
    if not len(loop):
        return False
    height = float(loop[:, 2].mean())
    for limb in pair:
        crossing = limb.at_height(height)
        if crossing is None or not is_inside(loop[:, :2] - crossing[:2]):
            return False
    return True


def is_inside(away: np.ndarray) -> bool:
    """True if the origin is inside of the convex hull of points (k, 2)."""
    turns = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    return bool(((away @ np.stack([np.cos(turns), np.sin(turns)])).max(axis=0) > 0.0).all())


def evenly(rows: np.ndarray) -> np.ndarray:
    """At most `MEASURED` of some rows."""
    if len(rows) <= MEASURED:
        return rows
    return rows[np.linspace(0, len(rows) - 1, MEASURED).astype(np.int64)]


def hold(way: np.ndarray) -> np.ndarray:
    """Weights (k,) of the map Pin along the way (k,) from the held to the free edge.

    A weight a draws a point to its posed place as a spring of the frequency `HELD sqrt(a)` does, which falls
    steadily to `SWINGS`: a cloth at rest is exactly as the animator posed it.
    """
    share = np.clip((way - FIRM) / (LOOSE - FIRM), 0.0, 1.0)
    return np.where(way <= FIRM, 1.0, (SWINGS / HELD) ** (2.0 * np.sqrt(share)))
