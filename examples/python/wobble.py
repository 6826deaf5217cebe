"""A rigged surface shakes: from triangles and weights to displacements, frame by frame.

    python wobble.py

A drop stands on one bone and nods with another; its flesh keeps swinging after the bones stop. The script
prints the displacements.
"""

import argparse

import jounce
import numpy as np

argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()

FRAMES_PER_SECOND = 24


def drop(rings: int = 24, sides: int = 32) -> tuple[np.ndarray, np.ndarray]:
    """Points (p, 3) and triangles (q, 3) of a drop, 2 m high, around the z axis."""
    heights = np.linspace(0.0, np.pi, rings + 2)[1:-1]
    around = np.linspace(0.0, 2 * np.pi, sides, endpoint=False)
    height, turn = np.meshgrid(heights, around, indexing="ij")
    radius = 0.6 * np.sin(height) * (1.0 + 0.4 * np.cos(height))
    body = np.stack([radius * np.cos(turn), radius * np.sin(turn), 1.0 - np.cos(height)], -1).reshape(-1, 3)
    points = np.vstack([body, [[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]]])
    bottom, top = len(body), len(body) + 1
    triangles = []
    for side in range(sides):
        after = (side + 1) % sides
        triangles += [(bottom, after, side), (top, (rings - 1) * sides + side, (rings - 1) * sides + after)]
        for low in range(0, (rings - 1) * sides, sides):
            a, b, c, d = low + side, low + after, low + sides + after, low + sides + side
            triangles += [(a, b, c), (a, c, d)]
    return points, np.array(triangles)


def nod(angle: float) -> np.ndarray:
    """The pose (2, 3, 4): the first bone stays, the second rotates about the y axis at a height of 0.6 m."""
    cos, sin, height = np.cos(angle), np.sin(angle), 0.6
    turned = [[cos, 0.0, sin, -sin * height], [0.0, 1.0, 0.0, 0.0], [-sin, 0.0, cos, height - cos * height]]
    return np.array([np.eye(3, 4), turned])


def main() -> None:
    """Builds, simulates three seconds, and prints the largest displacement in every sixth frame."""
    points, triangles = drop()
    upper = np.clip((points[:, 2] - 0.3) / 0.6, 0.0, 1.0)
    weights = np.stack([1.0 - upper, upper], 1)
    body = jounce.Body(points, triangles, weights, resolution=24, modes=12, clusters=80)
    print(f"{body}: lowest mode at {body.model.frequency:.2f} Hz")

    # Artists specify hertz: the factor on the stiffness for which the lowest mode has 3 Hz.
    stiffness = (3.0 / body.model.frequency) ** 2
    simulation = jounce.Simulation(
        body.model, dt=1 / FRAMES_PER_SECOND, substeps=4, damping=0.05, stiffness=stiffness
    )
    simulation.reset(nod(0.0))
    displacement = np.zeros((len(points), 3), np.float32)
    for frame in range(1, 3 * FRAMES_PER_SECOND + 1):
        moving = min(frame / FRAMES_PER_SECOND, 1.0)
        simulation.step(nod(0.4 * np.sin(2 * np.pi * moving)))
        body.model.displacement(simulation.coefficients, body.embedding, out=displacement)
        if frame % 6 == 0:
            largest = np.linalg.norm(displacement, axis=1).max()
            print(f"{frame / FRAMES_PER_SECOND:5.2f} s {largest:7.4f} m {'#' * round(100 * largest)}")


if __name__ == "__main__":
    main()
