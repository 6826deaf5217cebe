"""Pinned bodies: plants, grass, antennas, ropes and lamps, which swing about the place where they are fixed.

A tree of domains moves relative to its root, the object. With the frame (R, c) and the amplitudes y of the
domain of a vertex, the object's transform T, and the modes B of the domain, the displacement shown from the
object's place is

    u = (T (R, c) - T) [X; 1] + sum_j (L R y_j) B_j,

where L is the linear part of T. The coefficients of a frame are, for each domain, `T (R, c) - T` and one
`(L R y_j | 0)` for each mode.
"""

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Unpack

import jounce
import numpy as np

from ..common.task import Step
from ..common.user_error import UserError, passing_on
from ..flesh.settings import PinnedSettings
from ..mesh.surface import Surface
from ..stepping.motion import DENSITY, YOUNG
from . import domains
from .domains import Cage, Piece

# Modes of a piece at an end, and of one with attached pieces, beside its attachment modes.
MODES, BEARING = 4, 3
# Edge of the cube that serves as the root, as a multiple of the diagonal, and its cells.
ROOT, ROOT_CELLS = 2.0, 2
# Seconds of a step that ends in balance, and acceleration in m/s^2 of a small bend.
LONG, GENTLE = 1e5, 1e-4
# Most domains of a body: about half a second a frame.
MOST = 2_000


@dataclass(frozen=True, eq=False)
class Spread:
    """Points in tets, as `jounce.Embedding`: of several cages. tets: (p,), barycentric: (p, 4)."""

    points: np.ndarray
    tets: np.ndarray
    barycentric: np.ndarray
    corners: np.ndarray

    def interpolate(self, values: np.ndarray) -> np.ndarray:
        """Values (p, k) at the points from those (n, k) at the vertices."""
        return np.einsum("pc,pck->pk", self.barycentric, values[self.corners])


@dataclass(frozen=True, eq=False)
class Limb:
    """A domain of the tree.

    rows: (n,) of the common cage that it moves. moved_by: (n, 4 + 3 k), `[X; 1]` and its modes there.
    eigenvalues: (k,), 1/s^2.
    """

    rows: np.ndarray
    moved_by: np.ndarray
    eigenvalues: np.ndarray

    @property
    def size(self) -> int:
        """Number of coefficients: one for the frame of the domain, and one for each mode."""
        return 1 + len(self.eigenvalues)


@dataclass(frozen=True, eq=False)
class Tree:
    """The model of a pinned body: what a tree of domains is made of, and its map to displacements.

    frequency: of the slowest swing, Hz. damping: ratio of the domains, each by itself, with which that swing
    has a ratio of 1. masses: (d,) kg, centers: (d, 3) metres, of the domains without the root.
    """

    domains: tuple["jounce.Domain", ...]
    parents: np.ndarray
    interfaces: tuple[np.ndarray, ...]
    limbs: tuple[Limb, ...]
    vertices: np.ndarray
    masses: np.ndarray
    centers: np.ndarray
    frequency: float = 0.0
    damping: float = 1.0

    @property
    def coefficient_shape(self) -> tuple[int, int, int]:
        """Shape of the coefficients of a frame."""
        return sum(limb.size for limb in self.limbs), 3, 4

    def simulated(
        self, colliders: "list[jounce.Collider] | None" = None, **settings: "Unpack[jounce.TreeSettings]"
    ) -> "jounce.DomainTree":
        """A tree at rest."""
        return jounce.DomainTree(self.domains, self.parents, self.interfaces, colliders=colliders, **settings)

    def coefficients(self, tree: "jounce.DomainTree", root: np.ndarray) -> np.ndarray:
        """The coefficients (m, 3, 4) of a tree. root: (3, 4), rigid transform of its root."""
        away = root[:, :3].T
        turns, shifts = away @ tree.frames[1:, :, :3], (tree.frames[1:, :, 3] - root[:, 3]) @ away.T
        found, row = np.zeros(self.coefficient_shape), 0
        for number, limb in enumerate(self.limbs):
            own = found[row : row + limb.size]
            own[0, :, :3], own[0, :, 3] = turns[number], shifts[number]
            own[1:, :, :3] = tree.coordinates(number + 1)[:, None, None] * turns[number]
            row += limb.size
        return found

    def shown(self, pose: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Coefficients relative to the root, as those of the displacement from the object's place (3, 4)."""
        moved = pose[:, :3] @ coefficients
        moved[self._frames, :, 3] += pose[:, 3]
        moved[self._frames] -= pose
        return moved

    def displacement(self, coefficients: np.ndarray) -> np.ndarray:
        """Displacements (n, 3) of the cage."""
        moved, row = np.zeros_like(self.vertices), 0
        for limb in self.limbs:
            own = coefficients[row : row + limb.size].transpose(0, 2, 1)
            moved[limb.rows] = limb.moved_by @ np.concatenate([own[0], own[1:, :3].reshape(-1, 3)])
            row += limb.size
        return moved

    @property
    def _frames(self) -> np.ndarray:
        """Rows of the coefficients that are frames."""
        return np.cumsum([0, *(limb.size for limb in self.limbs[:-1])])


@dataclass(frozen=True, eq=False)
class PinnedBody:
    """A built pinned body, with the interface of a rigged body: the object is the only bone.

    pinned: (n,) bool, vertices of the cage at the root.
    """

    mesh: "jounce.TetMesh"
    embedding: Spread
    rig: "jounce.Rig"
    model: Tree
    pinned: np.ndarray

    @property
    def residual(self) -> float:
        """Residual of updated modes: zero, since modes are not updated."""
        return 0.0

    def displacement(self, coefficients: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """The displacements (p, 3) f32 of the points."""
        out = np.empty(self.embedding.points.shape, np.float32) if out is None else out
        out[:] = self.embedding.interpolate(self.model.displacement(coefficients))
        return out


def made(surface: Surface, settings: PinnedSettings) -> Generator[Step, None, PinnedBody]:
    """Makes the pinned body of a surface."""
    pinned = surface.maps.pinned
    if pinned is None:
        raise UserError(
            f"Nothing of {surface.parts[0].name} is pinned, so it would fall; paint the map Pin where it is "
            "fixed, or make it Loose in the panel Body."
        )
    found = domains.cages(surface.points, surface.triangles, settings.resolution)
    yield Step(0.1, "Dividing into domains")
    pieces = domains.pieces(found, pinned, settings.pieces)
    if len(pieces) > MOST:
        raise UserError(
            f"{surface.parts[0].name} has {len(pieces)} domains, of {len(found)} loose parts in Pieces; at "
            f"most {MOST} can be simulated: lower Pieces in the panel Body, or make a body of a part of it "
            "and instances of that."
        )
    mesh = common(found)
    model = yield from tree(mesh, pieces, surface.diagonal)
    held = np.zeros(len(mesh.vertices), bool)
    for piece in pieces:
        if piece.parent < 0:
            held[piece.vertices[piece.held]] = True
    rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
    return PinnedBody(mesh, spread(found, surface.points), rig, model, held)


def common(found: list[Cage]) -> "jounce.TetMesh":
    """All cages as one mesh."""
    offsets = np.cumsum([0, *(len(cage.mesh.vertices) for cage in found)])
    vertices = np.concatenate([cage.mesh.vertices for cage in found])
    tets = [cage.mesh.tets + offset for cage, offset in zip(found, offsets, strict=False)]
    return jounce.TetMesh(vertices, np.concatenate(tets).astype(np.int32))


def spread(found: list[Cage], points: np.ndarray) -> Spread:
    """The points of a surface, each in the cage of its part; one without a face follows the first cage."""
    corners, shares = np.zeros((len(points), 4), np.int64), np.zeros((len(points), 4))
    tets, first, offset = np.zeros(len(points), np.int64), 0, 0
    corners[:], shares[:, 0] = found[0].mesh.tets[0], 1.0
    for cage in found:
        own = np.asarray(cage.embedding.tets)
        tets[cage.rows] = own + first
        corners[cage.rows] = np.asarray(cage.mesh.tets)[own] + offset
        shares[cage.rows] = cage.embedding.barycentric
        first, offset = first + len(cage.mesh.tets), offset + len(cage.mesh.vertices)
    return Spread(points, tets, shares, corners)


def tree(mesh: "jounce.TetMesh", pieces: list[Piece], diagonal: float) -> Generator[Step, None, Tree]:
    """The tree of the pieces, on a cube as the root."""
    flesh = jounce.Material(YOUNG, 0.0, DENSITY)
    vertices = np.asarray(mesh.vertices)
    block, ground = root(vertices.mean(axis=0), diagonal, flesh)
    made, interfaces, limbs = [block], [np.empty(0, np.int64)], []
    masses, centers, owned = [], [], np.zeros(len(vertices), bool)
    bearing: list[list[np.ndarray]] = [[] for _ in pieces]
    for piece in pieces:
        if piece.parent >= 0:
            bearing[piece.parent].append(piece.interface)
    for number, piece in enumerate(pieces):
        own = jounce.TetMesh(np.ascontiguousarray(vertices[piece.vertices]), piece.tets)
        modes = swinging(own, piece, bearing[number], flesh)
        made.append(jounce.Domain(modes))
        if piece.parent < 0:
            interfaces.append(ground)
        else:
            known = pieces[piece.parent].vertices
            interfaces.append(np.searchsorted(known, piece.interface))
        # At an interface, the parent moves the shared vertices.
        rows = np.flatnonzero(~owned[piece.vertices])
        owned[piece.vertices] = True
        limbs.append(limb_of(vertices, piece.vertices[rows], modes, rows))
        weight = DENSITY * np.asarray(own.vertex_volumes)
        masses.append(weight.sum())
        centers.append(weight @ own.vertices / weight.sum())
        yield Step(0.1 + 0.8 * number / len(pieces), "Finding the modes of the domains")
    parents = np.array([-1, *(piece.parent + 1 for piece in pieces)])
    places = np.array(masses), np.stack(centers)
    found = Tree(tuple(made), parents, tuple(interfaces), tuple(limbs), vertices, *places)
    frequency, damping = slowest(found, DENSITY * np.asarray(mesh.vertex_volumes))
    return replace(found, frequency=frequency, damping=damping)


def limb_of(vertices: np.ndarray, moved: np.ndarray, modes: "jounce.LinearModes", rows: np.ndarray) -> Limb:
    """The part of a domain that moves vertices of the common cage: rows (n,) of its own."""
    shapes = np.asarray(modes.shapes)[:, rows].transpose(1, 0, 2).reshape(len(rows), -1)
    moved_by = np.column_stack([vertices[moved], np.ones(len(rows)), shapes])
    return Limb(moved, moved_by, np.asarray(modes.eigenvalues))


def swinging(
    mesh: "jounce.TetMesh", piece: Piece, bears: list[np.ndarray], flesh: "jounce.Material"
) -> "jounce.LinearModes":
    """The modes of a piece held at its attachment, and its responses to loads of the attached pieces."""
    held = np.zeros(len(mesh.vertices), bool)
    held[piece.held] = True
    free = 3 * int((~held).sum())
    with passing_on("The modes of a domain cannot be found"):
        modes = jounce.linear_modes(mesh, flesh, min(BEARING if bears else MODES, free), pinned=held)
        interfaces = [np.searchsorted(piece.vertices, each) for each in bears]
        return modes.attached(interfaces) if interfaces else modes


def root(center: np.ndarray, diagonal: float, flesh: "jounce.Material") -> tuple["jounce.Domain", np.ndarray]:
    """The domain of the root, which is not shown, and its fixed vertices."""
    edge = ROOT * diagonal
    points, triangles = jounce.shapes.box((edge, edge, edge))
    above = center + (0.0, 0.0, 0.5 * edge) - points.mean(axis=0)
    mesh = jounce.TetMesh.lattice(points + above, triangles, ROOT_CELLS)
    height = np.asarray(mesh.vertices)[:, 2]
    held = height < height.min() + 0.1 * edge
    return jounce.Domain(jounce.linear_modes(mesh, flesh, 1, pinned=held)), np.flatnonzero(held)


def slowest(tree: Tree, masses: np.ndarray) -> tuple[float, float]:
    """Frequency of the slowest swing, Hz, and the ratio of the domains with which its damping ratio is 1.

    The slowest of the swings that bend as small weights along the axes do. With the displacements u under an
    acceleration g, Rayleigh's quotient is `omega^2 = g sum m u_g / sum m |u|^2`. A ratio z of each mode of a
    domain, of amplitude y and eigenvalue l, is one of `z omega sum sqrt(l) y^2 / sum l y^2` of the swing.
    """
    found = []
    for axis in np.eye(3):
        simulated = tree.simulated(
            dt=LONG, gravity=tuple(GENTLE * axis), tolerance=1e-9, max_iterations=2_000
        )
        simulated.step()
        moved = tree.displacement(tree.shown(np.eye(3, 4), tree.coefficients(simulated, np.eye(3, 4))))
        square = GENTLE * (masses @ moved @ axis) / (masses @ (moved**2).sum(axis=1))
        omega = float(np.sqrt(max(square, 0.0)))
        firm = slow = 0.0
        for number, limb in enumerate(tree.limbs, start=1):
            squares = np.asarray(simulated.coordinates(number)) ** 2
            firm += float(limb.eigenvalues @ squares)
            slow += float(np.sqrt(limb.eigenvalues) @ squares)
        found.append((omega / (2.0 * np.pi), firm / (omega * slow)))
    return min(found)


def describe(body: PinnedBody) -> str:
    """One line about the built body."""
    rows = body.model.coefficient_shape[0]
    return f"{len(body.mesh.tets)} tets, {len(body.model.limbs)} domains, {rows} coordinates"
