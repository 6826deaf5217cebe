"""A plant in gusts, a tree of domains: a stem, branches in pieces, and leaves. Knows nothing of Blender.

    python branches.py [--leaves 1000] [--branches 28] [--pieces 3] [--modes 4 4] [--flesh]

It prints how large the tree is, and what a frame costs. A piece also has six coordinates
of how it gives at its end. Flesh is in as many displacements that bend, of modes and their derivatives, and
has its forces at three tets for each.
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

# Stations of a line at which the pieces of a branch begin and end; those of the stem are one.
CUTS = {1: (0, 10), 3: (0, 4, 7, 10)}
MODES = 4
# Pa, kg/m^3: as slender as it is, green wood of a tenth of that stiffness sways as a shrub does.
YOUNG, DENSITY = 2e8, 700.0
DAMPING = 0.08
# Metres a second of the mean wind, and how soon wood and leaves would follow it, 1/s.
WIND, WOOD, LEAF = 2.2, 4.0, 0.5
# Metres: branches, the stem, and how thick it and a branch begin. Points around them, and pieces along them.
ALONG, STEM, THICK, THIN = 0.9, 1.5, 0.022, 0.009
AROUND, PIECES = 6, 10
GOLDEN = math.pi * (3.0 - math.sqrt(5.0))
FRAMES, FPS = 120, 24
# Times that the loop is played before it repeats itself.
LOOPS = 3
# Tets for each displacement of flesh; their forces are those in some frames of a pull, m/s^2.
TETS, PULL, PULLED = 3, 30.0, 8


@dataclass
class Twig:
    """The middle of a stem or branch, (m, 3), and the points around it, (m, around, 3)."""

    line: np.ndarray
    rings: np.ndarray


@dataclass
class Leaves:
    """Where leaves are, how they are turned, (l, 3, 3), and how large; on which twig, after which station."""

    places: np.ndarray
    turns: np.ndarray
    scales: np.ndarray
    twigs: np.ndarray
    stations: np.ndarray


@dataclass
class Motion:
    """What a plant does in each frame of a loop."""

    places: np.ndarray
    turns: np.ndarray
    amplitudes: np.ndarray
    # Points around all twigs, (frames, p, 3).
    points: np.ndarray
    domains: int
    coordinates: int
    # Of a processor for a frame, the median.
    milliseconds: float


class Plant:
    """Stem, pieces of branches and leaves that hang on each other."""

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
        # Of each twig, pairs of a domain and its first station.
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
        """Move on by a frame in gusts, (d, 3), m/s, of which leaves feel what presses along their normals."""
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
        """Where the points around all twigs are, (p, 3)."""
        found = []
        for pieces in self.pieces:
            for number, (domain, _) in enumerate(pieces):
                stations = self.tree.positions(domain).reshape(-1, AROUND + 1, 3)[:, 1:]
                found.append(stations if number == len(pieces) - 1 else stations[:-1])
        return np.concatenate(found).reshape(-1, 3)

    def _add(self, twig: Twig, cut: tuple[int, int], parent: int, interface: np.ndarray) -> int:
        """The number of a new domain: stations of a twig from one to another."""
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
        """The vertices of a piece at a station."""
        return np.arange((AROUND + 1) * station, (AROUND + 1) * (station + 1))

    def _between(self, station: int) -> np.ndarray:
        """Those at a station and the one after it."""
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
    """Leaves to either side of branches."""
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
    """The motion of a plant in gusts that repeat after FRAMES, once it repeats itself."""
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
    """Flesh in displacements that bend and, where others hang on it, in how it gives there."""
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
    """A piece as tets: its middle with the ring around it, station after station."""
    around = rings.shape[1]
    vertices = np.concatenate([line[:, np.newaxis], rings], axis=1).reshape(-1, 3)
    tets = []
    for first in (around + 1) * np.arange(len(line) - 1):
        for side in range(around):
            # A prism: diagonals begin at the lowest of its corners, so that those of neighbours agree.
            a, b, c = first + np.sort([0, 1 + side, 1 + (side + 1) % around])
            above = around + 1
            tets += [(a, b, c, c + above), (a, b, b + above, c + above), (a, a + above, b + above, c + above)]
    tets = np.array(tets)
    corners = vertices[tets]
    inverted = np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0.0
    tets[inverted, :2] = tets[inverted, 1::-1]
    return jounce.TetMesh(vertices, tets)


def _branch(number: int, branches: int) -> np.ndarray:
    """The middle line of a branch, (pieces + 1, 3), that goes out and bends up."""
    share = number / (branches - 1)
    turn, lift = GOLDEN * number, 0.25 + 0.9 * share
    out = np.array([math.cos(turn) * math.cos(lift), math.sin(turn) * math.cos(lift), math.sin(lift)])
    u = np.linspace(0.0, 1.0, PIECES + 1)[:, np.newaxis]
    base = np.array([0.0, 0.0, STEM * (0.25 + 0.75 * share)])
    return base + ALONG * (1.0 - 0.5 * share) * (u * out + 0.2 * u**2 * np.array([0.0, 0.0, 1.0]))


def main() -> None:
    """Play a plant for a while, and say what that costs."""
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
