"""What a tine, a bell and a plank sound like: three WAV files of bodies that are struck.

    python sound.py [FOLDER]

Meshes them, finds their linear modes, strikes each twice and prints the partials; writes tine.wav, bell.wav
and plank.wav.
"""

import sys
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jounce
import numpy as np

RATE = 48000
SECONDS = 3.0
# Each cell of a grid in six tets, by its corners (x + 2 y + 4 z).
CELL = ((0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7))


@dataclass(frozen=True)
class Sounding:
    """A body, where it is held, where and how it is struck, and its damping ratios at two frequencies."""

    mesh: jounce.TetMesh
    material: jounce.Material
    held: np.ndarray | None
    struck: np.ndarray
    impulse: tuple[float, float, float]
    damping: tuple[tuple[float, float], tuple[float, float]]


def grid(
    cells: tuple[int, int, int], place: Callable[[np.ndarray], np.ndarray], closed: bool
) -> jounce.TetMesh:
    """Tets of a grid over the unit cube, each point moved to its place; closed: the first axis goes round."""
    steps = np.stack(np.meshgrid(*(np.arange(n + 1) for n in cells), indexing="ij"), -1).reshape(-1, 3)
    points = place(steps / cells)
    wrapped = steps % (cells[0], *(n + 2 for n in cells[1:])) if closed else steps
    numbers = (wrapped @ ((cells[1] + 1) * (cells[2] + 1), cells[2] + 1, 1)).reshape([n + 1 for n in cells])
    corners = [
        numbers[x : cells[0] + x, y : cells[1] + y, z : cells[2] + z].ravel()
        for z in (0, 1)
        for y in (0, 1)
        for x in (0, 1)
    ]
    tets = np.concatenate([np.stack([corners[i] for i in tet], 1) for tet in CELL])
    used, tets = np.unique(tets, return_inverse=True)
    vertices, tets = points[used], tets.reshape(-1, 4)
    edges = vertices[tets[:, 1:]] - vertices[tets[:, :1]]
    inverted = np.linalg.det(edges) < 0.0
    tets[inverted] = tets[inverted][:, [0, 2, 1, 3]]
    return jounce.TetMesh(vertices, tets.astype(np.int32))


def tine() -> Sounding:
    """A strip of steel, 80 x 6 x 2 mm, held at one end and plucked at the other."""
    mesh = grid((60, 5, 6), lambda x: x * (0.08, 0.006, 0.002), closed=False)
    held = mesh.vertices[:, 0] < 0.004
    steel = jounce.Material(young=2e11, poisson=0.3, density=7800.0)
    tip = np.array([0.08, 0.003, 0.002])
    return Sounding(mesh, steel, held, tip, (0.0, 0.0, -1e-3), ((200.0, 2e-3), (5000.0, 1e-3)))


def bell() -> Sounding:
    """A cup of bronze, 12 cm across and 4 mm thick, struck on its rim; nothing holds it."""

    def cup(x: np.ndarray) -> np.ndarray:
        around, along, depth = 2.0 * np.pi * x[:, 0], x[:, 1], 0.004 * x[:, 2]
        tilt = 0.15 + 1.35 * along
        radius = 0.06 - depth
        flat = radius * np.sin(tilt)
        return np.stack([flat * np.cos(around), flat * np.sin(around), radius * np.cos(tilt)], 1)

    mesh = grid((64, 24, 3), cup, closed=True)
    bronze = jounce.Material(young=1.1e11, poisson=0.34, density=8700.0)
    rim = np.array([0.06, 0.0, 0.0])
    return Sounding(mesh, bronze, None, rim, (-0.05, 0.0, 0.0), ((500.0, 4e-4), (8000.0, 6e-4)))


def plank() -> Sounding:
    """A board of wood, 60 x 8 x 2 cm, free, struck from above off its middle."""
    mesh = grid((60, 8, 6), lambda x: x * (0.6, 0.08, 0.02), closed=False)
    wood = jounce.Material(young=1.1e10, poisson=0.3, density=600.0)
    spot = np.array([0.25, 0.03, 0.02])
    return Sounding(mesh, wood, None, spot, (0.0, 0.0, -0.2), ((200.0, 0.01), (4000.0, 0.02)))


def listen(body: Sounding) -> tuple[np.ndarray, np.ndarray]:
    """Samples of two blows, the second half as hard, and the frequencies of what was struck most."""
    modes = jounce.linear_modes(body.mesh, body.material, 40, pinned=body.held)
    vertex = int(np.linalg.norm(body.mesh.vertices - body.struck, axis=1).argmin())
    impulses = np.array([body.impulse, 0.5 * np.array(body.impulse)])
    samples = modes.sound(SECONDS, [0.05, 1.5], [vertex, vertex], impulses, damping=body.damping, rate=RATE)
    audible = np.flatnonzero(modes.frequencies > 20.0)
    loud = np.abs(modes.shapes[audible, vertex] @ impulses[0]) / modes.frequencies[audible]
    return samples, np.sort(modes.frequencies[audible[np.argsort(-loud)[:5]]])


def write(path: Path, samples: np.ndarray) -> None:
    """A WAV file of 16 bits, as loud as it can be."""
    loud = np.round(samples * (0.9 * 32767 / np.abs(samples).max())).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(loud.tobytes())


def main() -> None:
    """Writes the three files and prints what is heard most."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    print("partials that were struck most, Hz")
    for name, body in (("tine", tine()), ("bell", bell()), ("plank", plank())):
        samples, partials = listen(body)
        write(folder / f"{name}.wav", samples)
        print(f"{name:6}", "  ".join(f"{partial:7.0f}" for partial in partials))


if __name__ == "__main__":
    main()
