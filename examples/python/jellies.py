"""A hundred free jellies fall into a box; out/jellies.svg shows four moments from the side.

Each is a cube of 12 cm with eight affine handles, thrown with a spin of its own. It is in contact with the
floor and the walls, with friction; jellies pass through each other. For each half second a line states the
largest penetration of a vertex into floor or walls since the previous line, as a share of the cube's
diagonal, and the total kinetic energy.
"""

import argparse
import itertools
import time
from pathlib import Path

import jounce
import numpy as np

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("folder", type=Path, nargs="?", default=Path("out"), help="for the picture")
folder = parser.parse_args().folder
folder.mkdir(parents=True, exist_ok=True)

COUNT, EDGE, CELLS = 100, 0.12, 4
DT, STEPS = 1 / 60, 240
SHOWN = {20, 34, 60, STEPS}
WALLS = [(1, 0), (-1, 0), (0, 1), (0, -1)]


def cube() -> jounce.TetMesh:
    """Six tets per cell, around its diagonal."""
    side = CELLS + 1
    vertices = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), 3).reshape(-1, 3)
    first = [i * side * side + j * side + k for i, j, k in itertools.product(range(CELLS), repeat=3)]
    paths = np.array(list(itertools.permutations([side * side, side, 1])))
    corners = np.concatenate([np.zeros((6, 1), int), paths.cumsum(1)], 1)
    odd = np.linalg.det(np.array(list(itertools.permutations(np.eye(3))))) < 0
    corners[odd] = corners[odd][:, [0, 2, 1, 3]]
    return jounce.TetMesh((vertices / CELLS - 0.5) * EDGE, np.add.outer(first, corners).reshape(-1, 4))


def thrown(number: int) -> jounce.Simulation:
    """A jelly above the box, in layers of five by five."""
    layer, row, column = number // 25, number % 25 // 5, number % 5
    place = [0.17 * (column - 2), 0.17 * (row - 2), 0.5 + 0.3 * layer]
    x, y = np.cos(2.4 * number), np.sin(2.4 * number)
    simulation = jounce.Simulation(
        model, dt=DT, gravity=(0, 0, -9.81), damping=0.05, colliders=[floor, *walls]
    )
    simulation.place(np.column_stack([np.eye(3), place]), velocity=(x, y, 0), spin=(3 * x, 3 * y, 2))
    return simulation


def outline(points: np.ndarray) -> str:
    """Silhouette of a roundish shape along y, in millimetres."""
    turn = np.linspace(0, 2 * np.pi, 48)
    picked = (points[:, :1] * np.cos(turn) + points[:, 2:] * np.sin(turn)).argmax(0)
    return " ".join(f"{1000 * x:.0f},{-1000 * z:.0f}" for x, _, z in points[picked])


mesh = cube()
model = jounce.Model.projective(mesh, jounce.Material(young=2e4, density=1000), handles=8, clusters=24)
floor = jounce.Collider.plane(friction=0.5)
walls = [jounce.Collider.plane((-0.6 * x, -0.6 * y, 0), (x, y, 0), friction=0.3) for x, y in WALLS]
rest, diagonal = mesh.vertices, 3**0.5 * EDGE
mass = 1000 * mesh.vertex_volumes
jellies = [thrown(number) for number in range(COUNT)]
before = np.array([rest + jelly.displacement() for jelly in jellies])
spent, deepest, drawn = 0.0, 0.0, []
print(f"{COUNT} jellies of {len(rest)} vertices and {12 * model.coefficient_shape[0]} degrees of freedom")
print("seconds  deepest  kinetic energy, J")
for step in range(1, STEPS + 1):
    started = time.perf_counter()
    jounce.step_together(jellies, [None] * COUNT)
    spent += time.perf_counter() - started
    now = np.array([rest + jelly.displacement() for jelly in jellies])
    depths = [-wall.distances(now.reshape(-1, 3)).min() for wall in (floor, *walls)]
    deepest = max(deepest, *depths)
    if step % 30 == 0:
        energy = 0.5 * (mass[:, None] * ((now - before) / DT) ** 2).sum()
        print(f"{step * DT:7.1f}  {deepest / diagonal:7.2%}  {energy:10.3g}")
        deepest = 0.0
    if step in SHOWN:
        shapes = "".join(f'<polygon points="{outline(jelly)}"/>' for jelly in now)
        box = '<path d="M-600-900V0H600V-900" fill="none"/>'
        drawn.append(f'<g transform="translate({1400 * len(drawn)})">{shapes}{box}</g>')
    before = now
print(f"{STEPS * COUNT / spent:,.0f} steps of a jelly a second")

with open(folder / "jellies.svg", "w", encoding="utf-8") as picture:
    picture.write('<svg xmlns="http://www.w3.org/2000/svg" viewBox="-650 -1050 5500 1100" ')
    picture.write(f'stroke="#334" stroke-width="4" fill="#7b9" fill-opacity=".3">{"".join(drawn)}</svg>')
