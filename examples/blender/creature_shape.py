"""The demo creature's appearance: surface, colours and face."""

from __future__ import annotations

from dataclasses import dataclass

import implicit
import numpy as np

BOX = (np.array([-0.62, -0.42, -0.05]), np.array([0.62, 0.82, 1.22]))
EAR = implicit.smooth_path(
    [[0.12, 0.03, 1.03], [0.20, 0.04, 1.12], [0.32, 0.05, 1.09], [0.395, 0.05, 0.95], [0.41, 0.03, 0.78]]
)
EAR_RADII = implicit.smooth_path([0.050, 0.056, 0.070, 0.084, 0.066])
ARM = np.array([[0.14, 0.00, 0.60], [0.245, -0.05, 0.53], [0.31, -0.12, 0.455]])
ARM_RADII = np.array([0.075, 0.062, 0.062])
LEG = np.array([[0.125, 0.00, 0.27], [0.150, -0.03, 0.155], [0.155, 0.01, 0.07]])
LEG_RADII = np.array([0.115, 0.095, 0.075])
FOOT = (np.array([0.165, -0.085, 0.048]), np.array([0.098, 0.165, 0.066]))
TAIL = implicit.smooth_path(
    [[0.0, 0.15, 0.25], [0.0, 0.33, 0.18], [0.0, 0.50, 0.22], [0.0, 0.60, 0.36], [0.0, 0.60, 0.50]]
)
TAIL_RADII = implicit.smooth_path([0.100, 0.088, 0.090, 0.100, 0.074])
EYE = np.array([0.102, -0.160, 0.908])

FUR = np.array([0.45, 0.47, 0.83])
DEEP = np.array([0.27, 0.26, 0.60])
CREAM = np.array([1.00, 0.90, 0.76])
BLUSH = np.array([0.98, 0.56, 0.60])
INK = np.array([0.055, 0.045, 0.10])
WHITE = np.array([1.0, 1.0, 1.0])


@dataclass
class Part:
    """A mesh as arrays: points (p, 3) in metres, quads (q, 4), sRGB colours (p, 3)."""

    name: str
    points: np.ndarray
    quads: np.ndarray
    colours: np.ndarray


def skin(resolution: int) -> Part:
    """The soft body: a watertight surface, `resolution` cells across the longest side."""
    points, quads = implicit.surface(distance, *BOX, resolution)
    return Part("Skin", points, quads, _colours(points))


def face() -> list[Part]:
    """Eyes, nose and mouth: rigid pieces attached to the head."""
    return [_eye("Eye.L", 1.0), _eye("Eye.R", -1.0), _nose(), _mouth()]


def distance(points: np.ndarray) -> np.ndarray:
    """Signed distance to the whole creature, mirrored in x and standing on z = 0 with flat soles."""
    p = np.column_stack([np.abs(points[:, 0]), points[:, 1:]])
    body = implicit.ellipsoid(p, (0.0, -0.06, 0.385), (0.300, 0.290, 0.270))
    body = implicit.blend(body, implicit.ellipsoid(p, (0.0, 0.0, 0.60), (0.175, 0.155, 0.17)), 0.16)
    head = implicit.ellipsoid(p, (0.0, -0.01, 0.895), (0.235, 0.200, 0.190))
    head = implicit.blend(head, implicit.ellipsoid(p, (0.105, -0.10, 0.815), (0.105, 0.095, 0.080)), 0.08)
    shape = implicit.blend(body, head, 0.10)
    shape = implicit.blend(shape, implicit.round_chain(p, LEG, LEG_RADII), 0.06)
    shape = implicit.blend(shape, implicit.ellipsoid(p, *FOOT), 0.04)
    shape = implicit.blend(shape, implicit.round_chain(p, ARM, ARM_RADII), 0.05)
    shape = implicit.blend(shape, implicit.round_chain(p, EAR, EAR_RADII, flat=1.7), 0.05)
    shape = implicit.blend(shape, implicit.round_chain(p, TAIL, TAIL_RADII), 0.08)
    return -implicit.blend(-shape, p[:, 2], 0.03)


def _colours(points: np.ndarray) -> np.ndarray:
    """Fur with a cream belly and muzzle, blushing cheeks and inner ears, dark tips and tail rings."""
    x, y, z = np.abs(points[:, 0]), points[:, 1], points[:, 2]
    p = np.stack([x, y, z], axis=1)
    colour = np.tile(FUR, (len(p), 1))
    belly = implicit.ellipsoid(p, (0.0, -0.31, 0.415), (0.200, 0.21, 0.220))
    muzzle = implicit.ellipsoid(p, (0.0, -0.21, 0.81), (0.135, 0.12, 0.085))
    colour = _paint(colour, CREAM, _inside(np.minimum(belly, muzzle), 0.012))
    colour = _paint(
        colour, BLUSH, 0.85 * _inside(implicit.ellipsoid(p, (0.17, -0.17, 0.845), (0.05, 0.08, 0.04)), 0.02)
    )
    bend = len(EAR) // 2
    inner = implicit.round_chain(p, EAR[bend:] - [0.0, 0.06, 0.0], EAR_RADII[bend:] * 0.72)
    inner = _inside(inner, 0.012)
    colour = _paint(colour, BLUSH, inner * (y < 0.03))
    colour = _paint(colour, DEEP, _inside(z - 0.80, 0.03) * (x > 0.325) * (z > 0.65) * (1.0 - inner))
    along = _tail_parameter(points)
    ring = _inside(np.abs((along * 7.0) % 1.0 - 0.5) - 0.22, 0.05) * (along > 0.30)
    colour = _paint(colour, DEEP, np.maximum(ring, along > 0.93))
    paw = _inside(np.minimum(z - 0.045, np.linalg.norm(p - ARM[2], axis=1) - 0.075), 0.012)
    return _paint(colour, DEEP, paw * ((z < 0.06) | (x > 0.2)) * (y < 0.12))


def _tail_parameter(points: np.ndarray) -> np.ndarray:
    """Share of the tail's length passed at each point, 0 off the tail."""
    lengths = np.linalg.norm(np.diff(TAIL, axis=0), axis=1)
    starts = np.concatenate([[0.0], np.cumsum(lengths)]) / lengths.sum()
    best, result = np.full(len(points), np.inf), np.zeros(len(points))
    for k, (start, end) in enumerate(zip(TAIL[:-1], TAIL[1:], strict=True)):
        along, gap = implicit.closest_on_segment(points, start, end)
        nearer = gap < best
        result[nearer] = (starts[k] + along * (starts[k + 1] - starts[k]))[nearer]
        best = np.minimum(best, gap)
    return result * (points[:, 1] > 0.24)


def _inside(signed: np.ndarray, softness: float) -> np.ndarray:
    """1 inside, 0 outside, with a smooth edge of the given half width."""
    t = np.clip(0.5 - signed / (2.0 * softness), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def _paint(under: np.ndarray, over: np.ndarray, cover: np.ndarray) -> np.ndarray:
    return under + np.asarray(cover, dtype=float)[:, None] * (over - under)


def _eye(name: str, side: float) -> Part:
    """A glossy dark eye with two highlights."""
    points, quads = _globe(32, 24)
    light = np.array([[-0.42, -0.72, 0.55], [0.45, -0.85, -0.28]])
    light /= np.linalg.norm(light, axis=1, keepdims=True)
    big = _inside(0.935 - points @ light[0], 0.02)
    small = _inside(0.985 - points @ light[1], 0.008)
    colours = _paint(np.tile(INK, (len(points), 1)), WHITE, np.maximum(big, small))
    return Part(name, points * [0.052, 0.036, 0.066] + EYE * [side, 1.0, 1.0], quads, colours)


def _nose() -> Part:
    points, quads = _globe(24, 16)
    shine = _inside(0.93 - points @ np.array([0.0, -0.6, 0.8]), 0.04)
    colours = _paint(np.tile(INK + [0.10, 0.03, 0.06], (len(points), 1)), WHITE, 0.7 * shine)
    return Part("Nose", points * [0.036, 0.026, 0.025] + [0.0, -0.212, 0.855], quads, colours)


def _mouth() -> Part:
    """A small smile: a thin tube along a curve that is laid onto the muzzle."""
    half = implicit.smooth_path([[0.0, 0.822], [0.024, 0.800], [0.056, 0.818]])
    across = np.concatenate([half[:0:-1] * [-1.0, 1.0], half])
    path = np.column_stack([across[:, 0], np.full(len(across), -0.4), across[:, 1]])
    for _ in range(40):
        path[:, 1] += distance(path)
    tangent = np.gradient(path, axis=0)
    side = np.cross(tangent, [0.0, 1.0, 0.0])
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    thickness = 0.0062 * np.sqrt(np.sin(np.linspace(0.1, np.pi - 0.1, len(path))))[:, None]
    turns = 2.0 * np.pi * np.arange(8) / 8
    rings = [path + thickness * (np.cos(t) * side + np.sin(t) * np.array([0.0, 1.0, 0.0])) for t in turns]
    points = np.stack(rings, axis=1).reshape(-1, 3)
    quads = _tube(len(path) - 1, len(turns))
    return Part("Mouth", points, quads, np.tile(INK, (len(points), 1)))


def _tube(lengths: int, segments: int) -> np.ndarray:
    """Quads (q, 4) of an open tube with consecutive rings of points."""
    row = np.arange(lengths)[:, None] * segments
    here, after = np.arange(segments), (np.arange(segments) + 1) % segments
    return np.stack(
        [row + here, row + after, row + segments + after, row + segments + here], axis=-1
    ).reshape(-1, 4)


def _globe(segments: int, rings: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit sphere of quads with a pinhole at each pole (on y)."""
    theta = np.linspace(0.02, np.pi - 0.02, rings + 1)
    phi = 2.0 * np.pi * np.arange(segments) / segments
    ring, turn = np.meshgrid(theta, phi, indexing="ij")
    points = np.stack([np.sin(ring) * np.cos(turn), -np.cos(ring), np.sin(ring) * np.sin(turn)], axis=-1)
    return points.reshape(-1, 3), _tube(rings, segments)
