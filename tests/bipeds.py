"""A made biped of plain geometry with clothes, the same for numpy and Blender."""

from dataclasses import dataclass

import numpy as np

# Head and parent of each bone, metres, z up, facing -y; tails point to the first child, or on.
BONES = {
    "hips": ((0.0, 0.0, 0.95), ""),
    "spine": ((0.0, 0.0, 1.1), "hips"),
    "chest": ((0.0, 0.0, 1.3), "spine"),
    "head": ((0.0, 0.0, 1.55), "chest"),
    **{
        f"{name}.{side}": ((sign * x, 0.0, z), f"{parent}.{side}" if parent in LIMB else parent)
        for LIMB in [{"upper_arm", "fore_arm", "thigh", "shin"}]
        for side, sign in (("L", 1.0), ("R", -1.0))
        for name, x, z, parent in (
            ("upper_arm", 0.2, 1.45, "chest"),
            ("fore_arm", 0.48, 1.45, "upper_arm"),
            ("hand", 0.74, 1.45, "fore_arm"),
            ("thigh", 0.1, 0.9, "hips"),
            ("shin", 0.1, 0.48, "thigh"),
            ("foot", 0.1, 0.08, "shin"),
        )
    },
}
NAMES = list(BONES)
HEADS = np.array([head for head, _ in BONES.values()])
PARENTS = np.array([NAMES.index(parent) if parent else -1 for _, parent in BONES.values()])


@dataclass(frozen=True)
class Shape:
    """A loose part. points: (p, 3). triangles: (q, 3). bones: the weight of each bone."""

    points: np.ndarray
    triangles: np.ndarray
    bones: dict[str, float]


def grid(across: int, down: int, closed: bool = False) -> np.ndarray:
    """Triangles (q, 3) of a grid of points, row by row; closed around."""
    faces = []
    for row in range(down - 1):
        for side in range(across if closed else across - 1):
            a, b = row * across + side, row * across + (side + 1) % across
            faces += [(a, b, b + across), (a, b + across, a + across)]
    return np.array(faces)


def tube(start, end, radii, bones, sides=16, rings=9, capped=True) -> Shape:
    """A tube between two places with the radii of its ends; capped: closed."""
    start, end = np.array(start, float), np.array(end, float)
    axis = (end - start) / np.linalg.norm(end - start)
    side = np.cross(axis, (0.0, 1.0, 0.0)) if abs(axis[1]) < 0.9 else np.array((1.0, 0.0, 0.0))
    side /= np.linalg.norm(side)
    turns = 2.0 * np.pi * np.arange(sides) / sides
    around = np.outer(np.cos(turns), side) + np.outer(np.sin(turns), np.cross(axis, side))
    share = np.linspace(0.0, 1.0, rings)
    radius = (1.0 - share) * radii[0] + share * radii[1]
    points = start + share[:, None, None] * (end - start) + radius[:, None, None] * around
    points, triangles = points.reshape(-1, 3), grid(sides, rings, closed=True)
    if capped:
        last = (rings - 1) * sides
        caps = [(len(points), (k + 1) % sides, k) for k in range(sides)]
        caps += [(len(points) + 1, last + k, last + (k + 1) % sides) for k in range(sides)]
        points, triangles = np.concatenate([points, [start, end]]), np.concatenate([triangles, caps])
    return Shape(points, triangles, bones)


def sheet(corner, across, down, bones, bulge=0.0, columns=9, rows=12) -> Shape:
    """A rectangle from a corner along two edges; bulge: along y, in its middle."""
    u, v = np.meshgrid(np.linspace(0.0, 1.0, columns), np.linspace(0.0, 1.0, rows))
    points = np.array(corner) + u[..., None] * np.array(across) + v[..., None] * np.array(down)
    points[..., 1] += bulge * np.sin(np.pi * u)
    return Shape(points.reshape(-1, 3), grid(columns, rows), bones)


def shell(one: Shape, thickness: float) -> Shape:
    """A closed shell of a sheet, as Solidify makes it along y."""
    count = len(one.points)
    edges = np.sort(one.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    known, counts = np.unique(edges, axis=0, return_counts=True)
    rim = [face for a, b in known[counts == 1] for face in ((a, b, b + count), (a, b + count, a + count))]
    points = np.concatenate([one.points, one.points + (0.0, thickness, 0.0)])
    return Shape(points, np.concatenate([one.triangles, one.triangles[:, ::-1] + count, rim]), one.bones)


def flattened(one: Shape, share: float) -> Shape:
    """A shape, flatter along y."""
    return Shape(one.points * (1.0, share, 1.0), one.triangles, one.bones)


def dome(center, radius, bones, brim=1.0) -> Shape:
    """A half of a ball, open below, with a flat brim."""
    lift, turns = np.linspace(0.5 * np.pi, 0.0, 8), 2.0 * np.pi * np.arange(16) / 16
    rings = [(radius * np.cos(a), radius * np.sin(a)) for a in lift] + [(brim * radius, 0.0)] * (brim > 1.0)
    points = [(r * np.cos(t), r * np.sin(t), z) for r, z in rings for t in turns]
    return Shape(np.array(center) + np.array(points), grid(16, len(rings), closed=True), bones)


def body() -> dict[str, Shape]:
    """The biped without clothes."""
    parts = {
        "trunk": tube(
            (0.0, 0.0, 0.85), (0.0, 0.0, 1.5), (0.16, 0.15), {"hips": 0.3, "spine": 0.4, "chest": 0.3}
        ),
        "skull": tube((0.0, 0.0, 1.52), (0.0, 0.0, 1.8), (0.1, 0.1), {"head": 1.0}),
    }
    for side, sign in (("L", 1.0), ("R", -1.0)):
        arm = {f"upper_arm.{side}": 0.5, f"fore_arm.{side}": 0.5}
        leg = {f"thigh.{side}": 0.5, f"shin.{side}": 0.5}
        ends = (sign * 0.18, 0.0, 1.45), (sign * 0.8, 0.0, 1.45)
        parts[f"arm.{side}"] = tube(*ends, (0.06, 0.05), arm)
        parts[f"leg.{side}"] = tube((sign * 0.1, 0.0, 0.9), (sign * 0.1, 0.0, 0.0), (0.08, 0.06), leg)
    return parts


def merged(shapes: list[Shape]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points (p, 3), triangles (q, 3) and weights (p, b) of loose parts.

    Places are whole 1024ths of a metre and weights whole sixteenths, which 32 bits and text keep exactly.
    """
    starts = np.cumsum([0, *(len(shape.points) for shape in shapes)])
    points = np.concatenate([shape.points for shape in shapes])
    triangles = [shape.triangles + start for shape, start in zip(shapes, starts, strict=False)]
    weights = [
        np.tile([shape.bones.get(name, 0.0) for name in NAMES], (len(shape.points), 1)) for shape in shapes
    ]
    return (
        np.round(1024.0 * points) / 1024.0,
        np.concatenate(triangles),
        np.round(16.0 * np.concatenate(weights)) / 16.0,
    )


CLOTHES = {
    "cape": sheet((-0.2, 0.19, 1.45), (0.4, 0.0, 0.0), (0.0, 0.25, -1.1), {"chest": 1.0}),
    "cape of a shell": shell(
        sheet((-0.2, 0.19, 1.45), (0.4, 0.0, 0.0), (0.0, 0.25, -1.1), {"chest": 1.0}), 0.008
    ),
    "skirt": tube(
        (0.0, 0.0, 1.0),
        (0.0, 0.0, 0.4),
        (0.18, 0.36),
        {"hips": 0.6, "thigh.L": 0.2, "thigh.R": 0.2},
        capped=False,
    ),
    "rigid skirt": tube((0.0, 0.0, 1.0), (0.0, 0.0, 0.5), (0.18, 0.3), {"hips": 1.0}, capped=False),
    "loincloth": sheet((-0.1, -0.18, 0.98), (0.2, 0.0, 0.0), (0.0, -0.12, -0.5), {"hips": 1.0}),
    "hair card": sheet((-0.08, 0.11, 1.75), (0.16, 0.0, 0.0), (0.0, 0.2, -0.45), {"head": 1.0}),
    "ear": sheet((0.06, 0.0, 1.78), (0.08, 0.02, 0.0), (0.12, 0.0, 0.35), {"head": 1.0}, columns=5),
}
OTHERS = {
    "tight skirt": flattened(
        tube((0.0, 0.0, 1.0), (0.0, 0.0, 0.5), (0.17, 0.185), {"hips": 1.0}, sides=32, capped=False), 0.42
    ),
    "shirt": tube((0.0, 0.0, 1.5), (0.0, 0.0, 0.85), (0.16, 0.2), {"chest": 0.5, "spine": 0.5}, capped=False),
    "leg of trousers": tube(
        (0.1, 0.0, 0.95), (0.1, 0.0, 0.1), (0.1, 0.16), {"thigh.L": 0.5, "shin.L": 0.5}, capped=False
    ),
    "sleeve": tube(
        (0.18, 0.0, 1.45),
        (0.75, 0.0, 1.45),
        (0.08, 0.2),
        {"upper_arm.L": 0.6, "fore_arm.L": 0.4},
        capped=False,
    ),
    "hat": dome((0.0, 0.0, 1.75), 0.13, {"head": 1.0}, brim=2.6),
    "helmet of hair": dome((0.0, 0.0, 1.66), 0.17, {"head": 1.0}),
    "backpack": tube((0.0, 0.26, 1.05), (0.0, 0.26, 1.4), (0.1, 0.1), {"chest": 1.0}),
    "back plate": sheet((-0.15, 0.2, 1.42), (0.3, 0.0, 0.0), (0.0, 0.0, -0.4), {"chest": 1.0}),
    "shield": sheet((0.6, -0.1, 1.6), (0.3, 0.0, 0.0), (0.0, -0.3, -0.5), {"hand.L": 1.0}),
    "flag in a hand": sheet((0.75, 0.1, 1.5), (0.2, 0.0, 0.0), (0.0, 0.2, -0.5), {"hand.L": 1.0}),
    "wing": sheet((0.05, 0.17, 1.5), (0.0, 0.02, -0.3), (0.9, 0.3, 0.2), {"chest": 1.0}),
}
