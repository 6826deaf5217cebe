"""Made characters in pieces, the same for Blender and USD, and the pieces that are hard."""

from dataclasses import dataclass

import numpy as np

# Points (p, 3), metres, z up; faces of four corners and more.
Shape = tuple[np.ndarray, list[tuple[int, ...]]]


@dataclass(frozen=True)
class Piece:
    """A mesh. weights: (p, b), rows of sum 1. material: name of its material, or empty."""

    name: str
    shape: Shape
    weights: np.ndarray
    is_hard: bool
    material: str = ""

    @property
    def points(self) -> np.ndarray:
        """Points (p, 3)."""
        return self.shape[0]

    @property
    def faces(self) -> list[tuple[int, ...]]:
        """Corners of the faces."""
        return self.shape[1]


def column(radius: float, x: float = 0.0, rings: int = 12, sides: int = 12) -> Shape:
    """A closed column of 2 m."""
    turns = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([x + radius * np.cos(turns), radius * np.sin(turns), np.zeros(sides)], axis=1)
    heights = [(0.0, 0.0, 2.0 * number / rings) for number in range(rings + 1)]
    points = np.concatenate([ring + height for height in heights])
    corners = [
        (a * sides + b, a * sides + (b + 1) % sides, (a + 1) * sides + (b + 1) % sides, (a + 1) * sides + b)
        for a in range(rings)
        for b in range(sides)
    ]
    ends = [tuple(range(sides))[::-1], tuple(range(rings * sides, (rings + 1) * sides))]
    return points, corners + ends


def box(half: tuple[float, float, float], centre: tuple[float, float, float]) -> Shape:
    """A box with sharp edges."""
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return signs * half + centre, faces


def blended(shape: Shape) -> np.ndarray:
    """Weights of two joints that pass from the lower to the upper half."""
    upper = np.clip(shape[0][:, 2] - 0.5, 0.0, 1.0)
    return np.stack([1.0 - upper, upper], axis=1)


def even(shape: Shape, *weights: float) -> np.ndarray:
    """The same weights at each point."""
    return np.tile(weights, (len(shape[0]), 1))


BODY, ROD, PILLAR, PIPE = column(0.3), column(0.05, x=0.8), column(0.15, x=0.8), column(0.1, x=0.35)
TWIN = column(0.3, x=0.8)
LOW, HIGH = box((0.3, 0.3, 0.45), (0.0, 0.0, 0.5)), box((0.3, 0.3, 0.45), (0.0, 0.0, 1.5))
PLATE, BUCKLE = box((0.25, 0.04, 0.35), (0.0, -0.3, 1.0)), box((0.1, 0.05, 0.1), (0.0, -0.3, 1.0))
FLESH = Piece("Body", BODY, blended(BODY), is_hard=False)
CASES = {
    "body": [FLESH],
    "rod": [FLESH, Piece("Rod", ROD, even(ROD, 0.0, 1.0), is_hard=True)],
    "pillar": [FLESH, Piece("Pillar", PILLAR, even(PILLAR, 1.0, 0.0), is_hard=True)],
    "plate": [FLESH, Piece("Plate", PLATE, blended(PLATE), is_hard=True)],
    "buckle": [FLESH, Piece("Buckle", BUCKLE, even(BUCKLE, 0.4, 0.6), is_hard=True)],
    "pipe": [FLESH, Piece("Pipe", PIPE, blended(PIPE), is_hard=False, material="Skin")],
    "steel pipe": [FLESH, Piece("Pipe", PIPE, blended(PIPE), is_hard=True, material="Steel")],
    "twin": [FLESH, Piece("Twin", TWIN, even(TWIN, 0.0, 1.0), is_hard=False)],
    "coat": [FLESH, Piece("Coat", column(0.35), blended(column(0.35)), is_hard=False)],
    "shells": [
        Piece("Lower", BODY, even(BODY, 1.0, 0.0), is_hard=False),
        Piece("Upper", PILLAR, even(PILLAR, 0.0, 1.0), is_hard=False),
    ],
    "machine": [
        Piece("Lower", LOW, even(LOW, 1.0, 0.0), is_hard=True),
        Piece("Upper", HIGH, even(HIGH, 0.0, 1.0), is_hard=True),
    ],
    "prop": [Piece("Prop", BODY, even(BODY, 0.0, 1.0), is_hard=True)],
    "prop of two": [Piece("Prop", BODY, even(BODY, 0.5, 0.5), is_hard=True)],
    "jelly": [Piece("Jelly", BODY, even(BODY, 1.0), is_hard=False)],
}
