"""512 baskets fly freely and fall among colliders; out/baskets.svg shows them twice from the side.

Each is a woven bowl of 36 cm with ten linear modes and a floating frame. It is in contact with the ground,
two balls, a beam and a box, with friction; baskets pass through each other. Bounding spheres that follow the
modes find the vertices near colliders. For each half second a line states the largest penetration of a vertex
since the previous line, as a share of the diagonal, and the processor time of a frame without and with
colliders. For comparison it also gives the time to test every vertex once, which each iteration of a step
would need without spheres.
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

ROWS, COLUMNS, APART = 16, 32, 0.45
RADIUS, HEIGHT, THICK, AROUND = 0.18, 0.16, 0.012, 16
DT, STEPS = 1 / 60, 180
SHOWN = {36, STEPS}
BALLS = [(1.6, (-3.5, 0.5, 0.3)), (0.8, (1.0, -1.5, 0.7))]
BEAM = (0.5, 2.5, 0.9), (6.5, 1.0, 0.9), 0.25
BOX = (2.0, 1.5, 0.8), (5.0, -2.0, 0.4)


def basket() -> jounce.TetMesh:
    """Hoops and ribs with a quarter of the wall left open; six tets per cell, around its diagonal."""
    profile = np.array([(0.25, 0), (0.5, 0), (0.72, 0.08), (0.86, 0.34), (0.94, 0.67), (1, 1)])
    profile *= (RADIUS, HEIGHT)
    along = np.gradient(profile, axis=0)
    inward = np.column_stack([-along[:, 1], along[:, 0]]) / np.linalg.norm(along, axis=1)[:, None]
    wall = np.stack([profile, profile + THICK * inward], 1)
    turn = 2 * np.pi * np.arange(AROUND) / AROUND
    around = np.column_stack([np.cos(turn), np.sin(turn)])[:, None, None]
    high = np.broadcast_to(wall[..., 1:], (AROUND, *wall.shape[:2], 1))
    points = np.concatenate([wall[..., :1] * around, high], 3)
    steps = np.array(list(itertools.permutations(np.eye(3, dtype=int)))).cumsum(1)
    steps = np.concatenate([np.zeros((6, 1, 3), int), steps], 1)
    cells = itertools.product(range(AROUND), range(len(profile) - 1))
    first = np.array([(i, j, 0) for i, j in cells if not (i % 2 and j % 2)])
    corners = (first[:, None, None] + steps).reshape(-1, 4, 3)
    corners[..., 0] %= AROUND
    places = np.ravel_multi_index(np.moveaxis(corners, 2, 0), points.shape[:3])
    used, tets = np.unique(places, return_inverse=True)
    points, tets = points.reshape(-1, 3)[used], tets.reshape(-1, 4)
    inside_out = np.linalg.det(points[tets[:, 1:]] - points[tets[:, :1]]) < 0
    tets[inside_out] = tets[inside_out][:, [0, 2, 1, 3]]
    return jounce.TetMesh(points, tets)


def looked(now: np.ndarray) -> float:
    """Largest penetration of any vertex."""
    return max(-collider.distances(now.reshape(-1, 3)).min() for collider in colliders)


def seen(points: np.ndarray) -> np.ndarray:
    """Projection from the side and a little above, in half centimetres."""
    x, y, z = np.moveaxis(np.asarray(points), -1, 0)
    return 200 * np.stack([x + 0.3 * y, -z - 0.35 * y], -1)


def drawn(now: np.ndarray) -> str:
    """Colliders, and rim, bottom and four ribs of each basket."""
    balls = "".join('<circle cx="{}" cy="{}" r="{}"/>'.format(*seen(at), 200 * size) for size, at in BALLS)
    (x, y), (right, up) = seen(BEAM[:2])
    line = f'd="M{x} {y}L{right} {up}" stroke-width="{400 * BEAM[2]}"'
    beam = f'<path {line} stroke="#ccc" stroke-linecap="round"/>'
    sides = [(-1, -1, -1), (1, -1, -1), (1, -1, 1), (1, 1, 1), (-1, 1, 1), (-1, -1, 1)]
    corners = seen(np.array(sides) * BOX[0] / 2 + BOX[1])
    box = '<polygon points="{}"/>'.format(" ".join(f"{x:.0f},{y:.0f}" for x, y in corners))
    lines = []
    for ring in seen(now).reshape(len(now), AROUND, 6, 2, 2)[:, ::2, :, 0]:
        rim, bottom = ([f"{x:.0f},{y:.0f}" for x, y in ring[:, row]] for row in (5, 1))
        ribs = "".join(f"M{a} {b}" for a, b in zip(rim[::2], bottom[::2], strict=True))
        lines.append(f"M{' '.join(rim)}ZM{' '.join(bottom[::2])}Z{ribs}")
    return f'<g fill="#ccc" stroke="none">{beam}{balls}{box}</g><path d="{"".join(lines)}"/>'


mesh = basket()
diagonal = np.linalg.norm(np.ptp(mesh.vertices, axis=0))
modes = jounce.linear_modes(mesh, jounce.Material(young=3e6, density=400), 16)
domain = jounce.Domain(modes)
colliders = [
    jounce.Collider.plane(friction=0.6),
    *(jounce.Collider.sphere(size, at, friction=0.4) for size, at in BALLS),
    jounce.Collider.capsule(*BEAM, friction=0.4),
    jounce.Collider.box(*BOX, friction=0.4),
]
random = np.random.default_rng(7)
field = (np.stack(np.meshgrid(np.arange(COLUMNS), np.arange(ROWS)), 2).reshape(-1, 2) + 0.5) * APART
field -= np.array([COLUMNS, ROWS]) * APART / 2
places = np.column_stack([field, random.uniform(2.2, 4.5, len(field))])
turns = np.linalg.qr(random.normal(size=(len(field), 3, 3)))[0]
turns *= np.linalg.det(turns)[:, None, None]
throws = random.normal(scale=1.5, size=(len(field), 3))


def trees(among: list[jounce.Collider] | None) -> list[jounce.DomainTree]:
    """All baskets, each as a tree of one domain."""
    settings = {"free": True, "dt": DT, "damping": 0.03, "gravity": (0, 0, -9.81), "tolerance": 1e-5}
    stand = np.concatenate([turns, places[..., None]], 2)
    return [jounce.DomainTree([domain], [-1], [[]], [at], colliders=among, **settings) for at in stand]


def step(baskets: list[jounce.DomainTree], number: int) -> float:
    """Steps all baskets, with the force of the throw in the first steps; returns the milliseconds."""
    started = time.process_time()
    for tree, throw in zip(baskets, throws, strict=True):
        tree.step(wind=throw if number <= 4 else None, drag=6.0)
    return 1000 * (time.process_time() - started)


baskets, loose = trees(colliders), trees(None)
count = len(mesh.vertices)
print(f"{len(baskets)} baskets of {count} vertices and {6 + domain.coordinate_count} degrees of freedom")
print("seconds  deepest   ms a frame: alone  among colliders  every vertex once")
spent, deepest, shots = [], 0.0, []
for number in range(1, STEPS + 1):
    spent.append([step(loose, number), step(baskets, number)])
    started = time.process_time()
    now = np.array([tree.positions(0) for tree in baskets])
    deepest = max(deepest, looked(now) / diagonal)
    spent[-1].append(1000 * (time.process_time() - started))
    if number % 30 == 0:
        alone, among, once = np.median(spent, 0)
        print(f"{number * DT:7.1f}  {deepest:7.2%}  {alone:17.2f}  {among:15.2f}  {once:17.2f}")
        spent, deepest = [], 0.0
    if number in SHOWN:
        shots.append(f'<g transform="translate(0,{1150 * len(shots)})">{drawn(now)}</g>')

box = f"-1800 -1150 3600 {1150 * len(shots) + 350}"
with open(folder / "baskets.svg", "w", encoding="utf-8") as picture:
    picture.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}" ')
    picture.write(f'fill="none" stroke="#543" stroke-width="3">{"".join(shots)}</svg>')
