"""Soft bodies that touch each other: two that collide in the air, and five that fall onto each other.

The core's colliders are rigid, so here the contact between jellies is a force of the step before. A point of
one that is inside a tet of another is as deep there as the tet's corners say, which know it at rest, and goes
out along the gradient of that where the tet now is. A spring with a damper pushes it out and the corners
back: what one body is given is taken from the other. A line for each fifth of the time: how deep points were
since the last, and what momentum and energy are left.
"""

import itertools

import jounce
import numpy as np

EDGE, CELLS, YOUNG = 0.12, 4, 2e4
DT = 1 / 480
# How much of its depth a point is pushed out of in a step where one alone touches, and of its speed it loses.
PUSH, LOSE = 0.5, 0.3


def cube() -> jounce.TetMesh:
    """A cube of cells."""
    corners = EDGE * (np.array(list(itertools.product((0.0, 1.0), repeat=3))) - 0.5)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return jounce.TetMesh.lattice(corners, np.array(triangles, np.uint32), CELLS)


class Jelly:
    """A loose cube of a density, with its places and velocities."""

    def __init__(self, density: float, place: np.ndarray, velocity: tuple, gravity: float) -> None:
        material = jounce.Material(YOUNG * density / 1000, density=density)
        self.model = jounce.Model.projective(mesh, material, handles=8, clusters=24)
        self.mass = self.model.vertex_mass
        self.simulation = jounce.Simulation(
            self.model, dt=DT, damping=0.05, gravity=(0, 0, -gravity), colliders=[floor]
        )
        turn = np.linalg.qr(np.random.default_rng(int(1e3 * place[2])).standard_normal((3, 3)))[0]
        turn[:, 0] *= np.linalg.det(turn)
        self.simulation.place(np.column_stack([turn, place]), velocity=velocity)
        self.now = mesh.vertices + self.simulation.displacement().astype(float)
        self.velocity = np.tile(velocity, (len(self.now), 1))
        self.stiffness = self.mass.sum() / 10 / DT**2

    def step(self, force: np.ndarray) -> float:
        """Goes on under forces on its vertices; its elastic energy."""
        energy = self.simulation.step(force=self.model.reduce_forces(force)).energy
        before, self.now = self.now, mesh.vertices + self.simulation.displacement().astype(float)
        self.velocity = (self.now - before) / DT
        return energy


def touching(points: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, ...]:
    """Which points are in which tets of a body, their weights there, how deep they are and the way out."""
    near = np.flatnonzero(((points > other.min(0)) & (points < other.max(0))).all(1))
    corners = other[mesh.tets]
    edges = np.linalg.inv(np.moveaxis(corners[:, 1:] - corners[:, :1], 1, 2))
    weights = np.einsum("tij,ptj->pti", edges, points[near][:, None] - corners[None, :, 0])
    weights = np.concatenate([1 - weights.sum(2, keepdims=True), weights], 2)
    best = weights.min(2).argmax(1)
    rows = np.flatnonzero(weights[np.arange(len(near)), best].min(1) > 0)
    tets, share = best[rows], weights[rows, best[rows]]
    depths = depth[mesh.tets[tets]]
    slope = np.einsum("pi,pij->pj", depths[:, 1:] - depths[:, :1], edges[tets])
    # Where all four corners are as deep as each other no way is the shorter one.
    steep = np.linalg.norm(slope, axis=1)
    kept = steep > 1e-9
    out = -slope[kept] / steep[kept, None]
    return near[rows][kept], tets[kept], share[kept], (share * depths).sum(1)[kept] / steep[kept], out


def push(jellies: list[Jelly]) -> tuple[list[np.ndarray], float]:
    """Forces between all of them, and how deep any point is in another, metres."""
    forces, deepest = [np.zeros_like(jelly.now) for jelly in jellies], 0.0
    for one, other in itertools.permutations(range(len(jellies)), 2):
        a, b = jellies[one], jellies[other]
        points, tets, share, deep, out = touching(a.now[skin], b.now)
        if len(points) == 0:
            continue
        points, corners = skin[points], mesh.tets[tets]
        speed = ((a.velocity[points] - (share[..., None] * b.velocity[corners]).sum(1)) * out).sum(1)
        firm = min(a.stiffness, b.stiffness) / max(1.0, len(points) / 4)
        amount = np.maximum(firm * (PUSH * deep - LOSE * DT * speed), 0.0)
        push = amount[:, None] * out
        np.add.at(forces[one], points, push)
        np.add.at(forces[other], corners, -share[..., None] * push[:, None])
        deepest = max(deepest, deep.max())
    return forces, deepest


def play(name: str, jellies: list[Jelly], seconds: float, gravity: float) -> None:
    """Simulates and prints a line for each fifth of the time."""
    print(f"{name}\nseconds  deepest  momentum, N s                    energy, J")
    steps, deepest = round(seconds / DT), 0.0
    for step in range(1, steps + 1):
        forces, deep = push(jellies)
        deepest = max(deepest, deep)
        elastic = sum(jelly.step(force) for jelly, force in zip(jellies, forces, strict=True))
        if step % (steps // 5) == 0:
            momentum = sum(jelly.mass @ jelly.velocity for jelly in jellies)
            kinetic = sum(0.5 * jelly.mass @ (jelly.velocity**2).sum(1) for jelly in jellies)
            height = sum(gravity * jelly.mass @ jelly.now[:, 2] for jelly in jellies)
            x, y, z = momentum
            print(
                f"{step * DT:7.2f}  {deepest / diagonal:7.2%}  {x:9.6f} {y:9.6f} {z:9.6f}  "
                f"{kinetic + elastic + height:9.5f} ({kinetic:.2g} of motion)"
            )
            deepest = 0.0


mesh, diagonal = cube(), 3**0.5 * EDGE
# How deep each vertex is at rest, metres.
depth = (np.ptp(mesh.vertices, axis=0) / 2 - np.abs(mesh.vertices)).min(1).clip(0.0)
skin = np.flatnonzero(depth < 1e-9)
floor = jounce.Collider.plane((0, 0, -10.0), friction=0.5)
heavy = Jelly(2000, np.array([-0.2, 0, 0]), (1.0, 0, 0), 0.0)
light = Jelly(500, np.array([0.2, 0.02, 0]), (-2.0, 0, 0), 0.0)
play("A heavy jelly and a light one collide in the air", [heavy, light], 1.0, 0.0)
floor = jounce.Collider.plane(friction=0.5)
heap = [Jelly(1000, np.array([0.01 * n, 0, 0.15 + 0.25 * n]), (0, 0, 0), 9.81) for n in range(5)]
play("Five fall onto each other", heap, 5.0, 9.81)
