"""Force fields as Blender's manual defines them, at given points.

What they do depends on places and settings alone, never on what is simulated, so that any frame can be read
on its own. Flow and noise, which depend on velocities and on chance, are left out.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# Kinds that are followed.
KINDS = ("WIND", "FORCE", "VORTEX", "TURBULENCE")
SHAPES = ("POINT", "PLANE", "LINE")

# From places (k, 3), in the size of the turbulence, to values in [-1, 1], (k, 3).
Noise = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Range:
    """Where a strength begins and ends, and the power with which it falls off; None for no end."""

    power: float = 0.0
    least: float | None = None
    most: float | None = None

    def share(self, distance: np.ndarray) -> np.ndarray:
        """`(1 + d - least)^-power`, 1 below least and 0 beyond most, (k,)."""
        least = 0.0 if self.least is None else self.least
        share = (1.0 + np.maximum(distance - least, 0.0)) ** -self.power
        return share if self.most is None else np.where(distance > self.most, 0.0, share)


@dataclass(frozen=True)
class Field:
    """One force field: center and axis (3,) in the world; strength in m/s^2 a unit of mass.

    side: 1 or -1 where it acts only before or behind its plane, 0 everywhere. falloff: "SPHERE", "TUBE" or
    "CONE". radial: across the axis, in the field's unit of length, or in degrees for a cone.
    """

    kind: str
    shape: str
    center: np.ndarray
    axis: np.ndarray
    strength: float
    falloff: str = "SPHERE"
    along: Range = Range()
    radial: Range = Range()
    side: int = 0
    gravitation: bool = False
    size: float = 0.0
    is_global: bool = False

    def acceleration(self, points: np.ndarray, noise: Noise) -> np.ndarray:
        """The acceleration (k, 3) at points (k, 3)."""
        offset = points - self.center
        height = offset @ self.axis
        reach = self._reach(offset, height)
        share = self.strength * self._share(offset, height, np.linalg.norm(reach, axis=1))
        return share[:, None] * self._direction(points, reach, noise)

    def _reach(self, offset: np.ndarray, height: np.ndarray) -> np.ndarray:
        """From the nearest place of the field to the points: of its center, its plane or its axis."""
        along = height[:, None] * self.axis
        if self.shape == "POINT":
            return offset
        return offset - along if self.shape == "LINE" or self.kind == "VORTEX" else along

    def _share(self, offset: np.ndarray, height: np.ndarray, distance: np.ndarray) -> np.ndarray:
        wrong_side = self.side * height < 0.0
        if self.falloff == "SPHERE":
            share = self.along.share(distance)
        else:
            across = np.linalg.norm(offset - height[:, None] * self.axis, axis=1)
            if self.falloff == "CONE":
                across = np.degrees(np.arctan2(across, height))
            share = self.along.share(np.abs(height)) * self.radial.share(across)
        return np.where(wrong_side, 0.0, share)

    def _direction(self, points: np.ndarray, reach: np.ndarray, noise: Noise) -> np.ndarray:
        if self.kind == "WIND":
            return np.broadcast_to(self.axis, points.shape)
        if self.kind == "TURBULENCE":
            places = points if self.is_global else points - self.center + self.axis
            return noise(places / self.size if self.size > 0.0 else places)
        if self.kind == "VORTEX":
            return np.cross(self.axis, reach)
        distance = np.linalg.norm(reach, axis=1, keepdims=True)
        power = 3.0 if self.gravitation else 1.0
        return np.divide(reach, distance**power, out=np.zeros_like(reach), where=distance > 1e-9)
