"""Bodies with the same motion required on every processor, and a command for comparing two machines.

    python motions.py save FILE       on one machine
    python motions.py compare FILE    on the other: exits with 1 if they differ

Symmetric bodies are the hard ones: their modes come in copies, and rounding may choose any combination of
them.
"""

import sys
from collections.abc import Callable

import jounce
import numpy as np

FRAMES = 100

# Largest difference of a displacement, relative to the size of the body.
TOLERANCE = 1e-6


def box(*size: float) -> tuple[np.ndarray, np.ndarray]:
    """Points and triangles of a box, one corner at the origin."""
    points = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * np.array(size, float)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return points, np.array([corners for a, b, c, d in quads for corners in ((a, b, c), (a, c, d))])


def held(points: np.ndarray) -> np.ndarray:
    """All vertices on one bone."""
    return np.ones((len(points), 1))


def hinged(points: np.ndarray) -> np.ndarray:
    """Two bones side by side along x, with a soft border."""
    second = np.clip((points[:, 0] / np.ptp(points[:, 0]) - 0.4) / 0.2, 0, 1)
    return np.stack([1 - second, second], 1)


def pose(frame: int, bones: int) -> np.ndarray:
    """The first bone shakes; the second rotates relative to the first by half a radian."""
    poses = np.tile(np.eye(3, 4), (bones, 1, 1))
    poses[:, 1, 3] = 0.3 * np.sin(0.5 * frame)
    poses[:, 2, 3] = 0.2 * np.sin(0.31 * frame)
    if bones == 2:
        cos, sin = np.cos(0.5 * np.sin(0.4 * frame)), np.sin(0.5 * np.sin(0.4 * frame))
        poses[1, :, :3] = [(cos, 0, sin), (0, 1, 0), (-sin, 0, cos)]
    return poses


# Including numbers of modes without one of several copies.
BODIES: dict[str, tuple[tuple[float, ...], Callable[[np.ndarray], np.ndarray], dict[str, int]]] = {
    "bar": ((4, 1, 1), held, {"resolution": 16, "modes": 8}),
    "bar, copies left out": ((4, 1, 1), held, {"resolution": 16, "modes": 9}),
    "cube, copies left out": ((1, 1, 1), held, {"resolution": 10, "modes": 8}),
    "plate": ((2, 2, 0.5), held, {"resolution": 12, "modes": 10}),
    "hinge": ((2, 1, 1), hinged, {"resolution": 12, "modes": 12}),
    "bar, cubature": ((4, 1, 1), held, {"resolution": 16, "modes": 9, "cubature": 60}),
    "cube, cubature": ((1, 1, 1), held, {"resolution": 10, "modes": 8, "cubature": 60}),
    "bar, driven": ((4, 1, 1), held, {"resolution": 16, "modes": 9, "driven": True}),
    "hinge, driven": ((2, 1, 1), hinged, {"resolution": 12, "modes": 12, "driven": True}),
    "hinge, cubature": ((2, 1, 1), hinged, {"resolution": 12, "modes": 12, "cubature": 60}),
}


def motion(name: str, young: Callable[[int], np.ndarray] = lambda n: np.full(n, 1e4)) -> np.ndarray:
    """Displacements of a body over all frames, relative to its size: (frames, p, 3)."""
    size, weigh, parameters = BODIES[name]
    points, triangles = box(*size)
    weights = weigh(points)
    body = jounce.Body(points, triangles, weights, clusters=30, young=young(len(points)), **parameters)
    simulation = jounce.Simulation(body.model, dt=1 / 24, substeps=4, damping=0.02)
    simulation.reset(pose(0, weights.shape[1]))
    shown = []
    for frame in range(FRAMES):
        simulation.step(pose(frame, weights.shape[1]))
        shown.append(body.model.displacement(simulation.coefficients, body.embedding))
    return np.array(shown) / np.linalg.norm(size)


def compare(path: str) -> bool:
    """Prints the distance of every body's motion from the file's; True if all are near."""
    others = np.load(path)
    differences = {name: np.abs(motion(name) - others[name]).max() for name in BODIES}
    for name, difference in differences.items():
        print(f"{name:24} {difference:.1e} of its size{'' if difference <= TOLERANCE else ': too far'}")
    return max(differences.values()) <= TOLERANCE


if __name__ == "__main__":
    command, file = sys.argv[1:]
    if command == "compare":
        sys.exit(0 if compare(file) else 1)
    np.savez(file, **{name: motion(name) for name in BODIES})
