"""A plant in gusts as a tree of domains: a stem, branches in pieces, and leaves. Independent of Blender.

    python branches.py [--leaves 1000] [--branches 28] [--pieces 3] [--modes 4 4] [--flesh]

It prints the size of the tree and the cost of a frame. A piece also has six coordinates for its attachment
modes at the end. Flesh has as many displacements in a basis of modes and modal derivatives, with cubature at
three tets per displacement.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass
from itertools import pairwise

import jounce
import leaf
import numpy as np

# Stations of a centre line at which the pieces of a branch begin and end; the stem is a single piece.
CUTS = {1: (0, 10), 3: (0, 4, 7, 10)}
MODES = 4
# Pa, kg/m^3: for this slender plant, a tenth of the stiffness of green wood gives the sway of a shrub.
YOUNG, DENSITY = 2e8, 700.0
DAMPING = 0.08
# Mean wind in metres per second, and drag rates of wood and leaves, 1/s.
WIND, WOOD, LEAF = 2.2, 4.0, 0.5
# Metres: branches, the stem, and initial thickness of stem and branches. Points around them, pieces along
# them.
ALONG, STEM, THICK, THIN = 0.9, 1.5, 0.022, 0.009
AROUND, PIECES = 6, 10
GOLDEN = math.pi * (3.0 - math.sqrt(5.0))
FRAMES, FPS = 120, 24
# Number of loops before the motion counts as periodic.
LOOPS = 3
# Cubature tets per displacement of flesh, trained on some frames of a pull, m/s^2.
TETS, PULL, PULLED = 3, 30.0, 8


@dataclass
class Twig:
    """Centre line of a stem or branch, (m, 3), and the points around it, (m, around, 3)."""

    line: np.ndarray
    rings: np.ndarray


@dataclass
class Leaves:
    """Positions, rotations (l, 3, 3) and scales of leaves; their twigs, and the stations before them."""

    places: np.ndarray
    turns: np.ndarray
    scales: np.ndarray
    twigs: np.ndarray
    stations: np.ndarray


@dataclass
class Motion:
    """Motion of a plant in each frame of a loop."""

    places: np.ndarray
    turns: np.ndarray
    amplitudes: np.ndarray
    # Points around all twigs, (frames, p, 3).
    points: np.ndarray
    domains: int
    coordinates: int
    # Median processor time of a frame.
    milliseconds: float


class Plant:
    """A stem, pieces of branches and leaves, attached to each other."""

    def __init__(
        self,
        one: leaf.Leaf,
        twigs: list[Twig],
        leaves: Leaves,
        pieces: int = 3,
        modes: int = MODES,
        flesh: bool = False,
    ) -> None:
        """Take one leaf for all, a stem and branches, their pieces and modes, and whether all is flesh."""
        self.modes, self.flesh = modes, flesh
        self.normal = leaf.normal(one)
        self.domains: list[jounce.Domain] = []
        self.parents: list[int] = []
        self.interfaces: list[np.ndarray] = []
        # Pairs of a domain and its first station, for each twig.
        self.pieces: list[list[tuple[int, int]]] = []
        stem = twigs[0].line
        for number, twig in enumerate(twigs):
            if number == 0:
                self._add(twig, (0, len(stem) - 1), -1, np.empty(0, int))
                continue
            height = np.linalg.norm(stem - twig.line[0], axis=1).argsort()[:2].min()
            parent, interface = 0, self._between(int(height))
            for cut in pairwise(CUTS[pieces]):
                parent = self._add(twig, cut, parent, interface)
                interface = self._ring(cut[1] - cut[0])
        self.first = len(self.domains)
        blade = _flesh(one.mesh, one.material, one.modes, leaf.MODES) if flesh else jounce.Domain(one.modes)
        for at, station in zip(leaves.twigs, leaves.stations, strict=True):
            domain, start = next(piece for piece in reversed(self.pieces[at]) if piece[1] <= station)
            self.domains.append(blade)
            self.parents.append(domain)
            self.interfaces.append(self._between(int(station) - start))
        placements = np.tile(np.eye(3, 4), (len(self.domains), 1, 1))
        placements[self.first :, :, :3], placements[self.first :, :, 3] = leaves.turns, leaves.places
        self.tree = jounce.DomainTree(
            self.domains,
            self.parents,
            self.interfaces,
            placements,
            dt=1.0 / FPS,
            substeps=2,
            integrator="bdf2",
            damping=DAMPING,
            tolerance=1e-4,
        )
        middles = [twigs[at].line[piece] for at, pieces in enumerate(self.pieces) for _, piece in pieces]
        self.middles = np.concatenate([middles, leaves.places])

    def step(self, gust: np.ndarray) -> None:
        """Advance by a frame in gusts, (d, 3), m/s; leaves respond to the pressure along their normals."""
        normals = self.tree.frames[self.first :, :, :3] @ self.normal
        wind = gust.copy()
        wind[self.first :] = normals * (normals * gust[self.first :]).sum(axis=1, keepdims=True)
        drag = np.full(len(wind), WOOD)
        drag[self.first :] = LEAF
        self.tree.step(wind=wind, drag=drag)

    def leaves(self) -> tuple[np.ndarray, np.ndarray]:
        """Frames (l, 3, 4) of the leaves, and amplitudes of their modes, (l, k)."""
        numbers = range(self.first, len(self.domains))
        amplitudes = np.array([self.tree.coordinates(number) for number in numbers])
        return self.tree.frames[self.first :], amplitudes

    def points(self) -> np.ndarray:
        """Positions of the points around all twigs, (p, 3)."""
        found = []
        for pieces in self.pieces:
            for number, (domain, _) in enumerate(pieces):
                stations = self.tree.positions(domain).reshape(-1, AROUND + 1, 3)[:, 1:]
                found.append(stations if number == len(pieces) - 1 else stations[:-1])
        return np.concatenate(found).reshape(-1, 3)

    def _add(self, twig: Twig, cut: tuple[int, int], parent: int, interface: np.ndarray) -> int:
        """Index of a new domain: the stations of a twig between two of them."""
        start, end = cut
        mesh = _solid(twig.line[start : end + 1], twig.rings[start : end + 1])
        held = np.arange(len(mesh.vertices)) <= AROUND
        wood = jounce.Material(YOUNG, 0.3, DENSITY)
        modes = jounce.linear_modes(mesh, wood, self.modes, pinned=held)
        given = modes.attached([self._ring(end - start)])
        piece = _flesh(mesh, wood, modes, self.modes, given) if self.flesh else jounce.Domain(given)
        self.domains.append(piece)
        self.parents.append(parent)
        self.interfaces.append(interface)
        if start == 0:
            self.pieces.append([])
        self.pieces[-1].append((len(self.domains) - 1, start))
        return len(self.domains) - 1

    def _ring(self, station: int) -> np.ndarray:
        """Vertices of a piece at a station."""
        return np.arange((AROUND + 1) * station, (AROUND + 1) * (station + 1))

    def _between(self, station: int) -> np.ndarray:
        """Vertices at a station and the next one."""
        return np.concatenate([self._ring(station), self._ring(station + 1)])


def grown(branches: int) -> list[Twig]:
    """The stem and its branches."""
    stem = np.linspace((0.0, 0.0, 0.0), (0.0, 0.0, STEM), PIECES + 1)
    twigs = []
    for line, thick in [(stem, THICK), *((_branch(number, branches), THIN) for number in range(branches))]:
        ahead = np.gradient(line, axis=0)
        ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
        side = np.cross(ahead, (0.31, 0.17, 0.05))
        side /= np.linalg.norm(side, axis=1, keepdims=True)
        radius = thick * np.linspace(1.0, 0.25, PIECES + 1)[:, np.newaxis]
        angles = 2.0 * math.pi * np.arange(AROUND) / AROUND
        rings = [line + radius * (math.cos(a) * side + math.sin(a) * np.cross(ahead, side)) for a in angles]
        twigs.append(Twig(line, np.stack(rings, axis=1)))
    return twigs


def placed(count: int, branches: int) -> Leaves:
    """Leaves on both sides of branches."""
    drawn = np.random.default_rng(11)
    places, turns, pieces = np.empty((count, 3)), np.empty((count, 3, 3)), np.empty(count, int)
    lines = [_branch(number, branches) for number in range(branches)]
    for number in range(count):
        line = lines[number % branches]
        at = PIECES * (1.0 - 0.85 * ((number // branches) * branches / count + 0.02 * drawn.random()))
        piece = pieces[number] = min(int(at), PIECES - 1)
        along = line[piece + 1] - line[piece]
        places[number] = line[piece] + (at - piece) * along
        along /= np.linalg.norm(along)
        angle = GOLDEN * (number // branches) + 0.4 * drawn.normal()
        side = np.cross(along, (0.0, 0.0, 1.0))
        side /= np.linalg.norm(side)
        away = math.cos(angle) * side + math.sin(angle) * np.cross(side, along)
        x = 0.6 * along + away + 0.15 * drawn.normal(size=3)
        x /= np.linalg.norm(x)
        z = np.array([0.0, 0.0, 1.0]) + 0.5 * away + 0.25 * drawn.normal(size=3)
        z -= (z @ x) * x
        z /= np.linalg.norm(z)
        turns[number] = np.stack([x, np.cross(z, x), z], axis=1)
    twigs = np.arange(count) % branches + 1
    return Leaves(places, turns, drawn.uniform(0.85, 1.3, count), twigs, pieces)


def swayed(one: leaf.Leaf, twigs: list[Twig], leaves: Leaves) -> Motion:
    """Motion of a plant in gusts that repeat after FRAMES, once the motion is periodic."""
    plant = Plant(one, twigs, leaves)
    gusts = leaf.Gusts(plant.middles, FRAMES / FPS)
    found, taken = [], []
    for frame in range(LOOPS * FRAMES):
        started = time.process_time()
        plant.step(WIND * gusts.at(frame / FPS))
        taken.append(time.process_time() - started)
        if frame >= (LOOPS - 1) * FRAMES:
            found.append((*plant.leaves(), plant.points()))
    stands, amplitudes, points = (np.array(kind) for kind in zip(*found, strict=True))
    return Motion(
        stands[..., 3],
        stands[..., :3],
        amplitudes,
        points,
        len(plant.domains),
        plant.tree.coordinate_count,
        1e3 * float(np.median(taken)),
    )


def _flesh(
    mesh: jounce.TetMesh,
    material: jounce.Material,
    modes: jounce.LinearModes,
    count: int,
    given: jounce.LinearModes | None = None,
) -> jounce.Domain:
    """Flesh in a basis of modes and modal derivatives, with attachment modes where others hang on it."""
    shapes = modes.bent_basis(count).shapes
    if given is not None:
        shapes = np.concatenate([shapes, given.shapes[len(modes.frequencies) :]])
    model = jounce.Model.reduced(mesh, material, jounce.Basis(shapes))
    states = []
    for pull in PULL * np.concatenate([np.eye(3), -np.eye(3)]):
        simulation = jounce.Simulation(model, gravity=tuple(pull), damping=DAMPING)
        for _ in range(PULLED):
            simulation.step()
            states.append(simulation.coefficients.copy())
    cubature = jounce.Cubature.of_shot(model, np.array(states), count=TETS * len(shapes))
    return jounce.Domain(model.sampled(cubature))


def _solid(line: np.ndarray, rings: np.ndarray) -> jounce.TetMesh:
    """Tet mesh of a piece: its centre line with a ring around each station."""
    around = rings.shape[1]
    vertices = np.concatenate([line[:, np.newaxis], rings], axis=1).reshape(-1, 3)
    tets = []
    for first in (around + 1) * np.arange(len(line) - 1):
        for side in range(around):
            # In a prism, diagonals start at the lowest corner, to agree with neighbours.
            a, b, c = first + np.sort([0, 1 + side, 1 + (side + 1) % around])
            above = around + 1
            tets += [(a, b, c, c + above), (a, b, b + above, c + above), (a, a + above, b + above, c + above)]
    tets = np.array(tets)
    corners = vertices[tets]
    inverted = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0.0
    tets[inverted, :2] = tets[inverted, 1::-1]
    return jounce.TetMesh(vertices, tets)


def _branch(number: int, branches: int) -> np.ndarray:
    """Centre line of a branch, (pieces + 1, 3), that leads outwards and bends up."""
    share = number / (branches - 1)
    turn, lift = GOLDEN * number, 0.25 + 0.9 * share
    out = np.array([math.cos(turn) * math.cos(lift), math.sin(turn) * math.cos(lift), math.sin(lift)])
    u = np.linspace(0.0, 1.0, PIECES + 1)[:, np.newaxis]
    base = np.array([0.0, 0.0, STEM * (0.25 + 0.75 * share)])
    return base + ALONG * (1.0 - 0.5 * share) * (u * out + 0.2 * u**2 * np.array([0.0, 0.0, 1.0]))


def main() -> None:
    """Plays a plant for a while, and prints the cost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--leaves", type=int, default=1000)
    parser.add_argument("--branches", type=int, default=28)
    parser.add_argument("--pieces", type=int, choices=CUTS, default=3, help="into which a branch is cut")
    parser.add_argument("--modes", type=int, nargs=2, default=(MODES, leaf.MODES), help="of wood and leaves")
    parser.add_argument("--flesh", action="store_true", help="domains that are nonlinear themselves")
    options = parser.parse_args()
    modes, leaf.MODES = options.modes
    twigs, leaves = grown(options.branches), placed(options.leaves, options.branches)
    plant = Plant(leaf.grown(), twigs, leaves, options.pieces, modes, options.flesh)
    gusts, taken = leaf.Gusts(plant.middles, FRAMES / FPS), []
    for frame in range(FRAMES):
        started = time.process_time()
        plant.step(WIND * gusts.at(frame / FPS))
        taken.append(1e3 * (time.process_time() - started))
    print(f"{len(plant.domains)} domains, {plant.tree.coordinate_count} degrees of freedom")
    print(f"{np.median(taken):.1f} ms of a processor a frame, {min(taken):.1f} at least")


if __name__ == "__main__":
    main()
