"""A leaf: sheet, linear modes, and their response to wind. Independent of Blender."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import jounce
import numpy as np

# Metres from the base of the stalk to the tip, half the width of stalk and blade, and their thicknesses.
LONG, STALK, WIDE, THICK = 0.1, 0.0018, 0.027, 0.003
# Start of the blade, as a share of the length.
BLADE = 0.28
ROWS, COLUMNS = 17, 5
RESOLUTION = 64
MODES = 4
# Frequency of the slowest mode, Hz; damping ratios of that mode and of one at the second frequency.
FREQUENCY, DAMPING = 1.7, ((1.7, 0.06), (20.0, 0.12))
# Gusts are waves that travel along the wind, m/s, and repeat after the loop; highest frequency, Hz.
SPEED, FASTEST = 3.0, 10.0
# Spread of the gusts' directions in radians, and strength of the mean wind relative to the gusts.
SPREAD, MEAN = 0.5, 0.5
# Root mean square displacement of a tip, as a share of the length.
REACH = 0.35


@dataclass
class Leaf:
    """A leaf at rest along x, with its normal along z, and the modes of the body of its sheet."""

    points: np.ndarray
    faces: np.ndarray
    mesh: jounce.TetMesh
    material: jounce.Material
    modes: jounce.LinearModes
    embedding: jounce.Embedding

    @property
    def shapes(self) -> np.ndarray:
        """Modes at the sheet's points, (k, p, 3)."""
        return np.stack([self.embedding.interpolate(shape) for shape in self.modes.shapes])

    def warped(self, amplitudes: np.ndarray, method: str) -> np.ndarray:
        """Displacements of the sheet's points, (p, 3)."""
        return self.embedding.interpolate(self.modes.warped(amplitudes, method))

    def length(self, points: np.ndarray) -> float:
        """Length of the sheet's middle line, from the stalk to the tip."""
        middle = points[COLUMNS // 2 :: COLUMNS]
        return float(np.linalg.norm(np.diff(middle, axis=0), axis=1).sum())

    @property
    def rotations(self) -> np.ndarray:
        """Half the curl of the modes at the sheet's points, (k, p, 3)."""
        return np.stack([self.embedding.interpolate(turn) for turn in self.modes.rotations])


def grown() -> Leaf:
    """A leaf fixed at the base of the stalk, with the stiffness for a frequency."""
    points, faces = _sheet()
    surface = _thickened(points, faces)
    mesh = jounce.TetMesh.lattice(*surface, RESOLUTION)
    held = mesh.vertices[:, 0] < mesh.vertices[:, 0].min() + 0.04 * LONG
    young = 1e6
    found = jounce.linear_modes(mesh, jounce.Material(young, 0.3, 700.0), MODES, pinned=held)
    young *= (FREQUENCY / found.frequencies[0]) ** 2
    material = jounce.Material(young, 0.3, 700.0)
    modes = jounce.linear_modes(mesh, material, MODES, pinned=held)
    return Leaf(points, faces, mesh, material, modes, jounce.Embedding(mesh, points))


def swung(
    leaf: Leaf, places: np.ndarray, turns: np.ndarray, scales: np.ndarray, frames: int, fps: float
) -> np.ndarray:
    """Periodic amplitudes of leaves in the wind, (frames, leaves, modes).

    places (l, 3), turns (l, 3, 3) and scales (l,) place the leaf. Gusts repeat after this number of frames,
    and so does the motion after one loop of settling.
    """
    forces = _forces(leaf, places, turns, scales, frames / fps)
    times = np.arange(2 * frames + 1) / fps
    waves = phasors(-np.outer(times, np.arange(forces.shape[1]) * fps / frames))
    found = np.empty((frames, len(places), MODES))
    for number, force in enumerate(forces):
        rows = np.ascontiguousarray((waves @ force).real)
        found[:, number] = leaf.modes.swing(rows, DAMPING, fps)[frames:-1]
    tips = np.einsum("flk,kx->flx", found, leaf.shapes[:, -COLUMNS // 2])
    return found * (REACH * LONG / np.sqrt((tips**2).sum(axis=2).mean()))


def posed(
    leaf: Leaf, places: np.ndarray, turns: np.ndarray, kinds: int, frames: int, fps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses (kinds, frames, p, 3) of a few leaves; for each leaf its kind (l,) and delay (l,) in frames.

    A kind stands for leaves with the wind from a similar side; the delay is a gust's travel time to the leaf.
    """
    sides = turns[:, 0]
    chosen = [0]
    while len(chosen) < kinds:
        chosen.append(int((sides @ sides[chosen].T).max(axis=1).argmin()))
    amplitudes = swung(leaf, np.zeros((kinds, 3)), turns[chosen], np.ones(kinds), frames, fps)
    moved = [[leaf.warped(row, "rotation_strain") for row in rows] for rows in amplitudes.transpose(1, 0, 2)]
    return leaf.points + np.array(moved), (sides @ sides[chosen].T).argmax(axis=1), places[:, 0] / SPEED * fps


class Gusts:
    """Air velocities: periodic gusts that travel with the wind, on a mean of MEAN."""

    def __init__(self, places: np.ndarray, period: float) -> None:
        """Draw the waves for places (d, 3)."""
        self.waves = list(_waves(period))
        late = [wave.frequency / SPEED * (places @ wave.along) for wave in self.waves]
        self.phases = [phasors(turns) for turns in late]

    def at(self, time: float) -> np.ndarray:
        """Velocities (d, 3) at a time in seconds."""
        turned = [phasors(-wave.frequency * time) * wave.strength for wave in self.waves]
        parts = zip(self.waves, self.phases, turned, strict=True)
        return sum(np.outer((turn * phase).real, wave.along) for wave, phase, turn in parts)


@dataclass
class Wave:
    """A periodic gust: Hz, direction of travel, and strength with its phase."""

    frequency: float
    along: np.ndarray
    strength: complex


def phasors(turns: np.ndarray | float) -> np.ndarray:
    """Complex numbers of magnitude 1 with these phases in turns."""
    angles = 2.0 * np.pi * turns
    return np.cos(angles) + 1j * np.sin(angles)


def _waves(period: float) -> Iterator[Wave]:
    """The mean wind and waves on it, weaker for higher frequencies."""
    seen = np.random.default_rng(7)
    for number in range(int(FASTEST * period) + 1):
        angle, lift = SPREAD * seen.normal(size=2) if number else (0.0, 0.0)
        along = np.array([np.cos(angle) * np.cos(lift), np.sin(angle) * np.cos(lift), np.sin(lift)])
        frequency = number / period
        phase = phasors(seen.random()) if number else 1.0
        strength = max(frequency, 0.5) ** (-5.0 / 6.0) if number else MEAN
        yield Wave(frequency, along, strength * phase)


def _forces(
    leaf: Leaf, places: np.ndarray, turns: np.ndarray, scales: np.ndarray, period: float
) -> np.ndarray:
    """`psi' f` of each mode under wind of one strength, complex (leaves, waves, modes); wave 0 is the mean.

    Wind presses along normals. Fast waves are short, so neighbouring leaves move alike in slow waves alone.
    """
    normals, areas = _normals(leaf)
    heard = areas * np.einsum("px,kpx->kp", normals, leaf.shapes)
    world = places[:, np.newaxis] + scales[:, np.newaxis, np.newaxis] * (
        leaf.points @ turns.transpose(0, 2, 1)
    )
    facing = normals @ turns.transpose(0, 2, 1)
    waves = list(_waves(period))
    forces = np.empty((len(places), len(waves), MODES), complex)
    for number, wave in enumerate(waves):
        phases = phasors(wave.frequency / SPEED * (world @ wave.along))
        forces[:, number] = wave.strength * ((facing @ wave.along) * phases) @ heard.T
    return forces


def normal(leaf: Leaf) -> np.ndarray:
    """Unit normal (3,) of the whole sheet."""
    normals, areas = _normals(leaf)
    mean = areas @ normals
    return mean / np.linalg.norm(mean)


def _sheet() -> tuple[np.ndarray, np.ndarray]:
    """Points (p, 3) in rows from the stalk to the tip, and quads (f, 4)."""
    s, t = np.meshgrid(np.linspace(0.0, 1.0, ROWS), np.linspace(-1.0, 1.0, COLUMNS), indexing="ij")
    blade = np.clip((s - BLADE) / (1.0 - BLADE), 0.0, 1.0)
    wide = np.maximum(WIDE * 1.92 * blade**0.55 * (1.0 - blade) ** 0.8, STALK)
    fold, droop = 0.25 * wide * np.abs(t), -0.15 * LONG * s**2
    points = np.stack([LONG * s, wide * t, droop + fold], axis=-1).reshape(-1, 3)
    corners = np.array([row * COLUMNS + column for row in range(ROWS - 1) for column in range(COLUMNS - 1)])
    faces = np.stack([corners, corners + COLUMNS, corners + COLUMNS + 1, corners + 1], axis=1)
    return points, np.ascontiguousarray(faces)


def _thickened(points: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sheet as a closed surface: points and triangles."""
    half, count = np.array([0.0, 0.0, 0.5 * THICK]), len(points)
    grid = np.arange(count).reshape(ROWS, COLUMNS)
    rim = np.concatenate([grid[:, 0], grid[-1, 1:], grid[-2::-1, -1], grid[0, -2:0:-1]])
    after = np.roll(rim, -1)
    sides = np.stack([rim + count, after + count, after, rim], axis=1)
    quads = np.concatenate([faces, faces[:, ::-1] + count, sides])
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return np.concatenate([points + half, points - half]), np.ascontiguousarray(triangles)


def _normals(leaf: Leaf) -> tuple[np.ndarray, np.ndarray]:
    """Unit normals (p, 3) of the sheet, and the areas (p,) of its points."""
    a, b, c, d = (leaf.points[corner] for corner in leaf.faces.T)
    shares = 0.125 * np.cross(c - a, d - b)
    sums = np.zeros_like(leaf.points)
    for corner in leaf.faces.T:
        np.add.at(sums, corner, shares)
    areas = np.linalg.norm(sums, axis=1)
    return sums / areas[:, np.newaxis], areas
