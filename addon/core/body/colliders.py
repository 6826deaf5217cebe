"""Colliders of a body: the shapes in the scene, and those of the native module.

A collider's object moves its points by `x = M X + t`, with its own scale, the parents' scale and the scene's
unit in M (metres). By the polar decomposition `M = R U` the shape is made of the points `U X` of the first
frame and placed by R and t. Any scale is allowed, but no animated one.
"""

from dataclasses import dataclass
from enum import Enum

import jounce
import numpy as np

from ..common.user_error import UserError, passing_on
from ..mesh.contact_points import Skin
from ..mesh.surface import Surface, hashed
from .built_bodies import BodyCache

# Tolerance for a changing size between frames, against rounding.
RIGID = 1e-3
# Thickness below which a mesh is flat, as a share of the largest side, and tolerance of a sphere's radius.
FLAT, ROUND = 1e-4, 0.02
# Thickness of a closed sheet, as a share of the largest side, and share of the area with a common facing
# direction.
THICK, SHEET = 0.25, 0.5
# Smallest number of points of a sphere: fewer make a box or a Platonic solid.
FEWEST_OF_BALL = 18


class Kind(Enum):
    """The shape of a collider. Automatic: guessed from the points."""

    AUTOMATIC = "AUTOMATIC"
    PLANE = "PLANE"
    SPHERE = "SPHERE"
    CAPSULE = "CAPSULE"
    BOX = "BOX"
    MESH = "MESH"


@dataclass(frozen=True, eq=False)
class Solid:
    """A collider in its object's space.

    name: of the object. points (p, 3) f64, triangles (q, 3) i64: in object space, Blender units. resolution:
    cells along the longest side of a mesh. spared: (k,) indices of body points without contact. keeps_size:
    the size of the first frame counts in all others, however the object is scaled. patches: triangles (k,) of
    each patch of a mesh that deforms, of which this is the one with number `patch`; none for a rigid one.
    """

    name: str
    kind: Kind
    points: np.ndarray
    triangles: np.ndarray
    resolution: int
    spared: np.ndarray
    keeps_size: bool = False
    patches: tuple[np.ndarray, ...] = ()
    patch: int = 0

    def digest(self, friction: float) -> str:
        """Hash of the shape and its settings, without the placement."""
        number = (self.patch,) if self.patches else ()
        words = (self.kind.value, self.resolution, friction, self.keeps_size, *number)
        return hashed((self.points, self.triangles, self.spared, *self.patches), words)


@dataclass(frozen=True, eq=False)
class Colliders:
    """All colliders of a body, Coulomb's coefficient of friction, and the contact points of a built body."""

    solids: tuple[Solid, ...]
    friction: float
    skin: Skin | None = None

    def digest(self) -> str:
        """Hash of all colliders, without names and placements."""
        return hashed((), tuple(solid.digest(self.friction) for solid in self.solids))

    def made(self, matrices: np.ndarray) -> "list[jounce.Collider]":
        """The native colliders, sized by the matrices (c, 3, 4) of the first frame."""
        # All patches of a mesh have the size of the first one, to the last bit.
        sized = [matrices[number - solid.patch] for number, solid in enumerate(self.solids)]
        pairs = zip(self.solids, sized, strict=True)
        whole = [made(solid, matrix, self.friction) for solid, matrix in pairs]
        if self.skin is None:
            return whole
        spared = (self.skin.places[solid.spared] for solid in self.solids)
        return [each.sparing(points[points >= 0]) for each, points in zip(whole, spared, strict=True)]

    def places(self, first: np.ndarray, now: np.ndarray, frame: int) -> np.ndarray:
        """Rotations and translations (c, 3, 4) from matrices (c, 3, 4) of a frame, and of the first one."""
        is_known = np.isfinite(now).all(axis=(1, 2)) & np.isfinite(first).all(axis=(1, 2))
        if not is_known.all():
            name = self.solids[int(np.argmin(is_known))].name
            raise UserError(
                f"{name} is at an infinite place in frame {frame}, or has lost vertices or bones; check its "
                "keys and modifiers."
            )
        rotations, sizes = polar(now)
        _, sizes_before = polar(first)
        change = np.abs(sizes - sizes_before).max(axis=(1, 2))
        rigid = change <= RIGID * np.abs(sizes_before).max(axis=(1, 2))
        rigid |= [solid.keeps_size for solid in self.solids]
        if not rigid.all():
            name = self.solids[int(np.argmin(rigid))].name
            raise UserError(
                f"{name} has another size in frame {frame} than at the start, and colliders are rigid; "
                "Diagnosis has a button that keeps its size."
            )
        return np.concatenate([rotations, now[:, :, 3:]], axis=2)

    def distances(self, first: np.ndarray, now: np.ndarray, points: np.ndarray) -> list[np.ndarray]:
        """Distances of points (p, 3) from each collider placed by matrices (c, 3, 4), metres, negative
        inside.
        """
        rotations, _ = polar(now)
        pairs = zip(self.made(first), rotations, now[:, :, 3], strict=True)
        return [known.distances((points - place) @ turn) for known, turn, place in pairs]


# Grids of distances take a while.
CACHE: "BodyCache[list[jounce.Collider]]" = BodyCache(capacity=64)


def polar(matrices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R and U of `M = R U` for the 3x3 parts of matrices (c, 3, 4); a reflection in M goes to U, not R."""
    left, sizes, right = np.linalg.svd(matrices[:, :, :3])
    rotations = left @ right
    sign = np.sign(np.linalg.det(rotations))[:, None, None]
    return sign * rotations, sign * (right.transpose(0, 2, 1) @ (sizes[:, :, None] * right))


def made(solid: Solid, matrix: np.ndarray, friction: float) -> "jounce.Collider":
    """The native collider, sized by a matrix (3, 4)."""
    size = polar(matrix[None])[1][0]
    words = (solid.kind.value, solid.resolution, friction)
    key = hashed((size, solid.points, solid.triangles, *solid.patches), words)
    known = CACHE.get(key)
    if known is None:
        points, triangles = solid.points @ size.T, facing_of(solid.triangles, size)
        with passing_on(f"{solid.name} cannot be collided with as it is; choose another shape"):
            if solid.patches:
                points, triangles = closed(points, triangles)
                corners = np.ascontiguousarray(triangles)
                known = jounce.Collider.patches(points, corners, solid.patches, solid.resolution, friction)
            else:
                kind = kind_of(solid, points)
                known = [shaped(kind, points, triangles, solid.resolution, friction)]
        CACHE.put(key, known)
    return known[solid.patch]


def soft(name: str, surface: Surface, resolution: int, friction: float) -> "jounce.Collider":
    """Collider of a loose body for others: the surface in the place of the build."""
    none = np.empty(0, np.int64)
    solid = Solid(name, Kind.MESH, surface.points, surface.triangles, resolution, none)
    return made(solid, np.eye(3, 4), friction)


def kind_of(solid: Solid, points: np.ndarray) -> Kind:
    """Shape of a collider with these points, metres."""
    return guessed(points) if solid.kind is Kind.AUTOMATIC else solid.kind


def facing_of(triangles: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Triangles that face outwards after their points are transformed by a 3x3 matrix."""
    return triangles[:, ::-1] if np.linalg.det(size) < 0.0 else triangles


def shaped(
    kind: Kind, points: np.ndarray, triangles: np.ndarray, resolution: int, friction: float
) -> "jounce.Collider":
    """A collider of one kind fitted to points (p, 3), metres."""
    center, half = middle(points)
    if kind is Kind.PLANE:
        return jounce.Collider.plane(
            points.mean(axis=0).tolist(), normal(points, triangles).tolist(), friction
        )
    if kind is Kind.SPHERE:
        return jounce.Collider.sphere(float(half.mean()), center.tolist(), friction)
    if kind is Kind.CAPSULE:
        start, end, radius = axis(points)
        return jounce.Collider.capsule(start.tolist(), end.tolist(), radius, friction)
    if kind is Kind.BOX:
        return jounce.Collider.box((2.0 * half).tolist(), center.tolist(), friction)
    points, triangles = closed(points, triangles)
    return jounce.Collider.mesh(points, np.ascontiguousarray(triangles), resolution, friction)


def middle(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The centre of the bounding box of points, and half of the side lengths."""
    low, high = points.min(axis=0), points.max(axis=0)
    return 0.5 * (low + high), 0.5 * (high - low)


def axis(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """End points of the axis of a capsule fitted to points, and the radius."""
    center, half = middle(points)
    long = int(np.argmax(half))
    radius = float(np.delete(half, long).mean())
    reach = np.zeros(3)
    reach[long] = max(0.0, half[long] - radius)
    return center - reach, center + reach, radius


def normal(points: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Mean normal of the triangles by area; the thinnest direction for a closed surface."""
    facing = faced(points, triangles)
    return np.eye(3)[int(np.argmin(np.ptp(points, axis=0)))] if facing is None else facing


def faced(points: np.ndarray, triangles: np.ndarray) -> np.ndarray | None:
    """The facing direction of a sheet of triangles; None for a closed surface."""
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    areas = np.cross(b - a, c - a)
    mean, whole = areas.sum(axis=0), np.linalg.norm(areas, axis=1).sum()
    length = np.linalg.norm(mean)
    return mean / length if length > SHEET * whole else None


def closed(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A sheet, such as a landscape, closed by a bottom and walls; any other surface unchanged."""
    facing = faced(points, triangles)
    sides = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    known = {(a, b) for a, b in sides.tolist()}
    rim = np.array([side for side in sides.tolist() if (side[1], side[0]) not in known], np.int64).reshape(
        -1, 2
    )
    if facing is None or len(rim) == 0:
        return points, triangles
    behind, count = points - THICK * np.ptp(points, axis=0).max() * facing, len(points)
    a, b = rim.T
    walls = [np.stack([b, a, a + count], axis=1), np.stack([b, a + count, b + count], axis=1)]
    return np.concatenate([points, behind]), np.concatenate([triangles, triangles[:, ::-1] + count, *walls])


def guessed(points: np.ndarray) -> Kind:
    """Guess of the kind: plane, box, sphere or mesh."""
    center, half = middle(points)
    if half.min() <= FLAT * half.max():
        return Kind.PLANE
    if len(points) == 8 and (np.abs(np.abs(points - center) - half) < FLAT * half).all():
        return Kind.BOX
    away = np.linalg.norm(points - center, axis=1)
    if len(points) >= FEWEST_OF_BALL and np.ptp(away) < ROUND * away.max():
        return Kind.SPHERE
    return Kind.MESH
