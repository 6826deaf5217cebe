"""Shapes of props: a tuft of grass, a palm leaf, a lamp on a chain, a rope and its posts, a potted plant."""

from __future__ import annotations

import math

import bpy
import creature
import numpy as np

Mesh = tuple[np.ndarray, list[tuple[int, ...]]]

GREEN, LEAF, BROWN, CLAY = (0.42, 0.62, 0.24), (0.32, 0.54, 0.28), (0.50, 0.38, 0.28), (0.76, 0.45, 0.32)
BRASS, HEMP = (0.84, 0.70, 0.36), (0.80, 0.70, 0.52)
# Points of the pot of the plant, its first ones.
POT = 64


def tube(line: np.ndarray, radii: np.ndarray, sides: int = 8) -> Mesh:
    """A closed tube around a line (n, 3)."""
    ahead = np.gradient(line, axis=0)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    side = np.cross(ahead, (0.31, 0.17, 0.05))
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    up = np.cross(ahead, side)
    angles = 2.0 * math.pi * np.arange(sides) / sides
    rings = [line + radii[:, None] * (math.cos(a) * side + math.sin(a) * up) for a in angles]
    points = np.stack(rings, axis=1).reshape(-1, 3)
    quads = [
        (r * sides + s, r * sides + (s + 1) % sides, (r + 1) * sides + (s + 1) % sides, (r + 1) * sides + s)
        for r in range(len(line) - 1)
        for s in range(sides)
    ]
    last = (len(line) - 1) * sides
    return points, [*quads, tuple(range(sides))[::-1], tuple(range(last, last + sides))]


def ribbon(line: np.ndarray, across: np.ndarray, widths: np.ndarray) -> Mesh:
    """A sheet along a line (n, 3), with a middle line. across: (n, 3), unit vectors."""
    points = np.stack([line - across * widths[:, None], line, line + across * widths[:, None]], axis=1)
    quads = [
        (3 * r + c, 3 * r + c + 1, 3 * r + c + 4, 3 * r + c + 3) for r in range(len(line) - 1) for c in (0, 1)
    ]
    return points.reshape(-1, 3), quads


def blade(base: np.ndarray, turn: float, lean: float, length: float, width: float) -> Mesh:
    """A blade of grass that leans outwards."""
    s = np.linspace(0.0, 1.0, 12)
    out, side = (
        np.array([math.cos(turn), math.sin(turn), 0.0]),
        np.array([-math.sin(turn), math.cos(turn), 0.0]),
    )
    line = base + length * (np.outer(lean * s**2, out) + np.outer(s - 0.3 * lean * s**3, (0.0, 0.0, 1.0)))
    return ribbon(line, np.tile(side, (len(s), 1)), width * (1.02 - s**2))


def grass() -> Mesh:
    """Thirty blades in a tuft."""
    drawn = np.random.default_rng(3)
    blades = [
        blade(
            np.append(drawn.normal(0.0, 0.025, 2), 0.0),
            drawn.uniform(0.0, 2.0 * math.pi),
            drawn.uniform(0.1, 0.6),
            drawn.uniform(0.25, 0.5),
            0.006,
        )
        for _ in range(30)
    ]
    return joined(blades)


def palm_leaf() -> Mesh:
    """A leaf of a palm: a stalk, and a blade that droops."""
    s = np.linspace(0.0, 1.0, 24)
    line = np.stack([0.9 * s, 0.0 * s, 0.35 * s - 0.45 * s**2], axis=1)
    blade = np.clip((s - 0.2) / 0.8, 0.0, 1.0)
    widths = np.maximum(0.16 * 2.2 * blade**0.7 * (1.0 - blade) ** 0.8, 0.008)
    return ribbon(line, np.tile((0.0, 1.0, 0.0), (len(s), 1)), widths)


def link(center: np.ndarray, turned: bool) -> Mesh:
    """A link of a chain."""
    angles = np.linspace(0.0, 2.0 * math.pi, 17)
    across = np.array([0.0, 1.0, 0.0]) if turned else np.array([1.0, 0.0, 0.0])
    line = (
        center + 0.016 * np.outer(np.cos(angles), across) + 0.032 * np.outer(np.sin(angles), (0.0, 0.0, 1.0))
    )
    return tube(line, np.full(len(line), 0.006), 6)


def lamp() -> Mesh:
    """A lamp that hangs on a chain of ten links, its hook at the origin."""
    links = [link(np.array([0.0, 0.0, -0.03 - 0.052 * number]), bool(number % 2)) for number in range(10)]
    height = np.array([-0.54, -0.56, -0.60, -0.68, -0.76, -0.77])
    shade = tube(
        np.stack([0.0 * height, 0.0 * height, height], axis=1),
        np.array([0.01, 0.03, 0.06, 0.12, 0.16, 0.02]),
        20,
    )
    return joined([*links, shade])


def rope() -> Mesh:
    """A rope that hangs between two posts."""
    s = np.linspace(-1.0, 1.0, 48)
    return tube(np.stack([s, 0.0 * s, 0.9 - 0.35 * (1.0 - s**2)], axis=1), np.full(len(s), 0.018))


def post(at: float) -> Mesh:
    """A post at an end of the rope."""
    return tube(np.array([[at, 0.0, 0.0], [at, 0.0, 0.5], [at, 0.0, 1.0]]), np.full(3, 0.05), 10)


def potted_plant() -> Mesh:
    """A plant of loose parts: a pot, a stem, twigs, and leaves on them."""
    drawn = np.random.default_rng(8)
    pot = tube(
        np.array([[0.0, 0.0, z] for z in (0.0, 0.1, 0.2, 0.22)]), np.array([0.10, 0.12, 0.14, 0.14]), 16
    )
    s = np.linspace(0.0, 1.0, 12)
    stem = np.stack([0.05 * np.sin(3.0 * s), 0.03 * s, 0.18 + 0.75 * s], axis=1)
    parts = [pot, tube(stem, 0.014 * (1.1 - 0.7 * s), 8)]
    for number in range(9):
        turn, base = 2.4 * number, stem[3 + number]
        out = np.array([math.cos(turn), math.sin(turn), 0.0])
        twig = base + np.outer(s, 0.26 * out) + np.outer(s - 0.6 * s**2, (0.0, 0.0, 0.2))
        parts.append(tube(twig, 0.006 * (1.2 - 0.7 * s), 6))
        for at in (5, 8, 11):
            for side in (-1.0, 1.0):
                away = turn + side * drawn.uniform(0.6, 1.1)
                parts.append(leaf(twig[at], away, drawn.uniform(0.10, 0.15)))
    return joined(parts)


def leaf(base: np.ndarray, turn: float, length: float) -> Mesh:
    """A leaf that points outwards."""
    s = np.linspace(0.0, 1.0, 8)
    out, side = (
        np.array([math.cos(turn), math.sin(turn), 0.0]),
        np.array([-math.sin(turn), math.cos(turn), 0.0]),
    )
    line = base + length * (np.outer(s, out) + np.outer(0.2 * s - 0.6 * s**2, (0.0, 0.0, 1.0)))
    widths = np.maximum(0.3 * length * np.sin(math.pi * np.clip(s, 0.12, 0.99)) ** 0.8, 0.003)
    return ribbon(line, np.tile(side, (len(s), 1)), widths)


def joined(parts: list[Mesh]) -> Mesh:
    """Several meshes as one."""
    points, faces, start = [], [], 0
    for own, quads in parts:
        points.append(own)
        faces += [tuple(corner + start for corner in quad) for quad in quads]
        start += len(own)
    return np.concatenate(points), faces


def added(
    name: str, shape: Mesh, colour: tuple[float, float, float], place: tuple[float, float, float]
) -> bpy.types.Object:
    """An object of a shape in the scene; the pot of a plant is of clay."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(shape[0].tolist(), [], shape[1])
    colours = np.tile(colour, (len(mesh.vertices), 1))
    if name == "Plant":
        colours[:POT] = CLAY
    creature.colour(mesh, colours)
    mesh.materials.append(creature.coloured_material(name, 0.6))
    mesh.shade_smooth()
    obj = bpy.data.objects.new(name, mesh)
    obj.location = place
    bpy.context.scene.collection.objects.link(obj)
    return obj
