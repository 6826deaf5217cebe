"""Soft bodies in contact with each other: two that collide in the air, and five that fall onto each other.

Each has a collider shape for the contact of others, and all are stepped together. For each fifth of the time
a line states the largest penetration into another jelly, the remaining momentum and energy, and the duration
of a step.
"""

import argparse
import itertools
import time

import jounce
import numpy as np

argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()

EDGE, CELLS, YOUNG = 0.12, 4, 2e4
DT = 1 / 96


def cube() -> jounce.TetMesh:
    """A cube of cells."""
    corners = EDGE * (np.array(list(itertools.product((0.0, 1.0), repeat=3))) - 0.5)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return jounce.TetMesh.lattice(corners, np.array(triangles, np.uint32), CELLS)


class Jelly:
    """A free cube of a given density, with its positions and velocities."""

    def __init__(self, density: float, place: np.ndarray, velocity: tuple, gravity: float) -> None:
        material = jounce.Material(YOUNG * density / 1000, density=density)
        model = jounce.Model.projective(mesh, material, handles=8, clusters=24)
        self.mass = model.vertex_mass
        self.simulation = jounce.Simulation(
            model,
            dt=DT,
            damping=0.05,
            gravity=(0, 0, -gravity),
            colliders=[floor],
            shape=jounce.Collider.box((EDGE, EDGE, EDGE), friction=0.5),
        )
        turn = np.linalg.qr(np.random.default_rng(int(1e3 * place[2])).standard_normal((3, 3)))[0]
        turn[:, 0] *= np.linalg.det(turn)
        self.simulation.place(np.column_stack([turn, place]), velocity=velocity)
        self.now = mesh.vertices + self.simulation.displacement().astype(float)
        self.velocity = np.tile(velocity, (len(self.now), 1))

    def look(self) -> None:
        """Updates positions and velocities after a step."""
        before, self.now = self.now, mesh.vertices + self.simulation.displacement().astype(float)
        self.velocity = (self.now - before) / DT


def deepest_in(points: np.ndarray, other: np.ndarray) -> float:
    """Largest depth of points inside a body's tets, located at rest, metres."""
    near = points[((points > other.min(0)) & (points < other.max(0))).all(1)]
    corners = other[mesh.tets]
    edges = np.linalg.inv(np.moveaxis(corners[:, 1:] - corners[:, :1], 1, 2))
    weights = np.einsum("tij,ptj->pti", edges, near[:, None] - corners[None, :, 0])
    weights = np.concatenate([1 - weights.sum(2, keepdims=True), weights], 2)
    rest = np.einsum("pti,tij->ptj", weights, mesh.vertices[mesh.tets])[weights.min(2) > 0]
    return (EDGE / 2 - np.abs(rest)).min(1).max(initial=0.0)


def deepest(jellies: list[Jelly]) -> float:
    """Largest penetration of a vertex into another jelly, as a share of the diagonal."""
    pairs = itertools.permutations(jellies, 2)
    return max(deepest_in(one.now[skin], other.now) for one, other in pairs) / (3**0.5 * EDGE)


def play(name: str, jellies: list[Jelly], seconds: float, gravity: float) -> None:
    """Simulates, and prints a line for each fifth of the time."""
    print(f"{name}\nseconds  deepest  momentum, N s                    energy, J")
    steps, deep, spent = round(seconds / DT), 0.0, 0.0
    for step in range(1, steps + 1):
        begun = time.process_time()
        reports = jounce.step_together([jelly.simulation for jelly in jellies], [None] * len(jellies))
        spent += time.process_time() - begun
        for jelly in jellies:
            jelly.look()
        deep = max(deep, deepest(jellies))
        if step % (steps // 5) == 0:
            momentum = sum(jelly.mass @ jelly.velocity for jelly in jellies)
            kinetic = sum(0.5 * jelly.mass @ (jelly.velocity**2).sum(1) for jelly in jellies)
            height = sum(gravity * jelly.mass @ jelly.now[:, 2] for jelly in jellies)
            energy = kinetic + height + sum(report.energy for report in reports)
            x, y, z = momentum
            print(
                f"{step * DT:7.2f}  {deep:7.2%}  {x:9.6f} {y:9.6f} {z:9.6f}  "
                f"{energy:9.5f} ({kinetic:.2g} of motion), {spent / (steps // 5) * 1e3:.0f} ms a step"
            )
            deep, spent = 0.0, 0.0


mesh = cube()
skin = np.flatnonzero(np.abs(mesh.vertices).max(1) > EDGE / 2 - 1e-9)
floor = jounce.Collider.plane((0, 0, -10.0), friction=0.5)
heavy = Jelly(2000, np.array([-0.2, 0, 0]), (1.0, 0, 0), 0.0)
light = Jelly(500, np.array([0.2, 0.02, 0]), (-2.0, 0, 0), 0.0)
play("A heavy jelly and a light one collide in the air", [heavy, light], 1.0, 0.0)
floor = jounce.Collider.plane(friction=0.5)
heap = [Jelly(1000, np.array([0.01 * n, 0, 0.15 + 0.25 * n]), (0, 0, 0), 9.81) for n in range(5)]
play("Five fall onto each other", heap, 5.0, 9.81)
