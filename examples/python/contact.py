"""A ball falls on the ground and is hit by a club: out/contact.svg, a silhouette every third frame."""

import argparse
from pathlib import Path

import jounce
import numpy as np

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("folder", type=Path, nargs="?", default=Path("out"), help="for the picture")
folder = parser.parse_args().folder
folder.mkdir(parents=True, exist_ok=True)

RADIUS = 0.1
FRAMES = 48


def sphere(rings: int = 16) -> tuple[np.ndarray, np.ndarray]:
    """Points and triangles of a ball that stands on z = 0.5."""
    turns = 2 * rings
    across, around = np.meshgrid(np.pi * np.arange(1, rings) / rings, 2 * np.pi * np.arange(turns) / turns)
    ball = np.stack([np.sin(across) * np.cos(around), np.sin(across) * np.sin(around), np.cos(across)], 2)
    points = np.concatenate([ball.reshape(-1, 3), [[0, 0, 1], [0, 0, -1]]]) * RADIUS + [0, 0, RADIUS + 0.5]
    row, top = rings - 1, turns * (rings - 1)
    triangles = []
    for turn in range(turns):
        here, there = turn * row, (turn + 1) % turns * row
        triangles += [(top, here, there), (top + 1, there + row - 1, here + row - 1)]
        for i in range(row - 1):
            triangles += [(here + i, here + i + 1, there + i + 1), (here + i, there + i + 1, there + i)]
    return points, np.array(triangles)


def outline(points: np.ndarray) -> str:
    """Silhouette along y, in millimetres: the furthest point in each of many directions."""
    angles = np.linspace(0, 2 * np.pi, 90, endpoint=False)
    seen = points[:, [0, 2]] * (1000, -1000)
    ends = seen[(seen @ [np.cos(angles), np.sin(angles)]).argmax(0)]
    return " ".join(f"{x:.0f},{y:.0f}" for x, y in ends)


points, triangles = sphere()
mesh = jounce.TetMesh.lattice(points, triangles, resolution=10)
skin = jounce.Embedding(mesh, points)
material = jounce.Material(young=2e4, poisson=0.4, density=1000.0, law="neo_hookean")
ground = jounce.Collider.plane(friction=0.6)
club = jounce.Collider.capsule((-0.6, -0.3, 0.08), (-0.6, 0.3, 0.08), 0.08, friction=0.3)
simulation = jounce.Simulation(
    jounce.Model.full_space(mesh, material),
    substeps=2,
    gravity=(0, 0, -9.81),
    colliders=[ground, club],
    contact_points=skin,
)

shapes, places = [], np.tile(np.eye(4)[:3], (2, 1, 1))
for frame in range(FRAMES):
    # Once the ball lies still, the club arrives at two metres per second.
    places[1, 0, 3] = min(max(frame - 24, 0), 9) * 2 / 24
    report = simulation.step(colliders=places)
    moved = points + simulation.model.displacement(simulation.coefficients, skin)
    if frame % 3 == 0:
        shapes.append(
            f'<polygon points="{outline(moved)}" fill="hsl({6 * frame},60%,60%)" fill-opacity=".35"/>'
        )
        print(
            f"frame {frame:2}: at x = {moved[:, 0].mean():6.3f} m, lowest {1e3 * moved[:, 2].min():8.3f} mm"
        )

with open(folder / "contact.svg", "w", encoding="utf-8") as picture:
    picture.write('<svg xmlns="http://www.w3.org/2000/svg" viewBox="-700 -750 3000 800" stroke="black">')
    picture.write('<line x1="-700" x2="2300" y1="0" y2="0"/>' + "".join(shapes) + "</svg>")
