"""Sound of a tine, a bell and a plank: three WAV files of struck bodies.

    python sound.py [FOLDER]

Meshes the bodies, computes their linear modes, strikes each twice and prints the partials. Writes tine.wav,
bell.wav and plank.wav, and sound.svg, the spectrograms, to a folder (`out`).
"""

import argparse
import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jounce
import numpy as np

RATE = 48000
SECONDS = 3.0
BLOWS = (0.05, 1.5)
# Settings of the picture: samples per spectrum, frequency range in Hz, and range in dB below the maximum.
WINDOW, STEP = 4096, 1800
LOWEST, HIGHEST, QUIETEST = 100.0, 20_000.0, 70.0
WIDE, HIGH, GAP = 300, 200, 50
# Each cell of a grid in six tets, by its corners (x + 2 y + 4 z).
CELL = ((0, 1, 3, 7), (0, 3, 2, 7), (0, 2, 6, 7), (0, 6, 4, 7), (0, 4, 5, 7), (0, 5, 1, 7))


@dataclass(frozen=True)
class Sounding:
    """A body, its pins, position and direction of the blow, and damping ratios at two frequencies."""

    mesh: jounce.TetMesh
    material: jounce.Material
    held: np.ndarray | None
    struck: np.ndarray
    impulse: tuple[float, float, float]
    damping: tuple[tuple[float, float], tuple[float, float]]


def grid(
    cells: tuple[int, int, int], place: Callable[[np.ndarray], np.ndarray], closed: bool
) -> jounce.TetMesh:
    """Tets of a grid over the unit cube, each point mapped to its position; `closed` joins the first axis."""
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
    """A strip of steel, 80 x 6 x 2 mm, fixed at one end and plucked at the other."""
    mesh = grid((60, 5, 6), lambda x: x * (0.08, 0.006, 0.002), closed=False)
    held = mesh.vertices[:, 0] < 0.004
    steel = jounce.Material(young=2e11, poisson=0.3, density=7800.0)
    tip = np.array([0.08, 0.003, 0.002])
    return Sounding(mesh, steel, held, tip, (0.0, 0.0, -1e-3), ((200.0, 2e-3), (5000.0, 1e-3)))


def bell() -> Sounding:
    """A free cup of bronze, 12 cm across and 4 mm thick, struck on its rim."""

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
    """A free board of wood, 60 x 8 x 2 cm, struck from above off its middle."""
    mesh = grid((60, 8, 6), lambda x: x * (0.6, 0.08, 0.02), closed=False)
    wood = jounce.Material(young=1.1e10, poisson=0.3, density=600.0)
    spot = np.array([0.25, 0.03, 0.02])
    return Sounding(mesh, wood, None, spot, (0.0, 0.0, -0.2), ((200.0, 0.01), (4000.0, 0.02)))


def listen(body: Sounding) -> tuple[np.ndarray, np.ndarray]:
    """Samples of two blows, the second half as strong, and the frequencies of the strongest modes."""
    modes = jounce.linear_modes(body.mesh, body.material, 40, pinned=body.held)
    vertex = int(np.linalg.norm(body.mesh.vertices - body.struck, axis=1).argmin())
    impulses = np.array([body.impulse, 0.5 * np.array(body.impulse)])
    samples = modes.sound(SECONDS, BLOWS, [vertex, vertex], impulses, damping=body.damping, rate=RATE)
    audible = np.flatnonzero(modes.frequencies > 20.0)
    loud = np.abs(modes.shapes[audible, vertex] @ impulses[0]) / modes.frequencies[audible]
    return samples, np.sort(modes.frequencies[audible[np.argsort(-loud)[:5]]])


def write(path: Path, samples: np.ndarray) -> None:
    """Writes a WAV file of 16 bits, normalised to full scale."""
    loud = np.round(samples * (0.9 * 32767 / np.abs(samples).max())).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(loud.tobytes())


def spectrogram(samples: np.ndarray) -> np.ndarray:
    """Decibels below the maximum, (rows, times), with rows equally spaced in pitch from LOWEST to HIGHEST."""
    starts = range(0, len(samples) - WINDOW + 1, STEP)
    windows = np.stack([samples[start : start + WINDOW] for start in starts]) * np.hanning(WINDOW)
    loud = np.abs(np.fft.rfft(windows, axis=1))
    edges = LOWEST * (HIGHEST / LOWEST) ** np.linspace(0.0, 1.0, HIGH // 4 + 1) * WINDOW / RATE
    first = edges[:-1].astype(int)
    rows = [loud[:, a : max(a + 1, int(b))].max(axis=1) for a, b in zip(first, edges[1:], strict=True)]
    return 20.0 * np.log10(np.maximum(np.stack(rows) / loud.max(), 1e-12))


def drawn(name: str, samples: np.ndarray, left: float) -> str:
    """A spectrogram: time to the right, pitch upwards, louder is darker."""
    levels = np.maximum(1.0 + spectrogram(samples) / QUIETEST, 0.0)
    tall, wide = HIGH / len(levels), WIDE / levels.shape[1]
    shapes = [f'<text x="{left + WIDE / 2}" y="{GAP - 15}" text-anchor="middle">{name}</text>']
    for row, column in np.argwhere(levels > 0.02):
        place = f'x="{left + column * wide:.1f}" y="{GAP + HIGH - (row + 1) * tall:.1f}"'
        size = f'width="{wide:.1f}" height="{tall:.1f}"'
        shapes.append(f'<rect {place} {size} fill="#224" fill-opacity="{levels[row, column]:.2f}"/>')
    for frequency in (100, 1000, 10_000):
        y = GAP + HIGH * (1.0 - np.log(frequency / LOWEST) / np.log(HIGHEST / LOWEST))
        label = f"{frequency} Hz" if frequency < 1000 else f"{frequency // 1000} kHz"
        shapes.append(f'<text x="{left - 5}" y="{y:.0f}" text-anchor="end" font-size="11">{label}</text>')
    end = f"{SECONDS:g} s"
    shapes.append(
        f'<text x="{left + WIDE}" y="{GAP + HIGH + 16}" text-anchor="end" font-size="11">{end}</text>'
    )
    frame = f'x="{left}" y="{GAP}" width="{WIDE}" height="{HIGH}" fill="none" stroke="#889"'
    return "".join(shapes) + f"<rect {frame}/>"


def main() -> None:
    """Writes the files and prints the loudest partials."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("out"), help="for the files")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    print("partials that were struck most, Hz")
    pictures = []
    for name, body in (("tine", tine()), ("bell", bell()), ("plank", plank())):
        samples, partials = listen(body)
        write(folder / f"{name}.wav", samples)
        print(f"{name:6}", "  ".join(f"{partial:7.0f}" for partial in partials))
        pictures.append(drawn(name, samples, GAP + len(pictures) * (WIDE + GAP)))
    size = f"0 0 {GAP + 3 * (WIDE + GAP)} {HIGH + 2 * GAP}"
    with open(folder / "sound.svg", "w", encoding="utf-8") as picture:
        picture.write(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif">')
        picture.write(f'<rect width="100%" height="100%" fill="#fff"/>{"".join(pictures)}</svg>')


if __name__ == "__main__":
    main()
