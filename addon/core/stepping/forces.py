"""Force fields as defined in Blender's manual, at given points.

Values depend on places, settings and the frame alone, never on the simulation: any frame can be read
separately. Forces against the velocity of a point are returned as resistance, which the step evaluates.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

# Supported kinds.
KINDS = ("WIND", "FORCE", "VORTEX", "TURBULENCE", "HARMONIC", "DRAG")
SHAPES = ("POINT", "PLANE", "LINE")

# Distance from the centre of a field, in the field's unit of length, below which there is no direction.
NEAR = 1e-9

# Coefficients of drag fields count up to this.
MOST_DRAG = 2.0

# From places (k, 3), in the size of the turbulence, to values in [-1, 1], (k, 3).
Noise = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Range:
    """Range of a strength, and the power of the falloff; None for no end."""

    power: float = 0.0
    least: float | None = None
    most: float | None = None

    def share(self, distance: np.ndarray) -> np.ndarray:
        """`(1 + d - least)^-power`, 1 below least and 0 beyond most, (k,)."""
        least = 0.0 if self.least is None else self.least
        share = (1.0 + np.maximum(distance - least, 0.0)) ** -self.power
        return share if self.most is None else np.where(distance > self.most, 0.0, share)


@dataclass(frozen=True)
class Resistance:
    """Drag on a unit mass with velocity v: `-(linear + quadratic |v|) v`, (k,) each.

    linear: 1/s. quadratic: 1/m.
    """

    linear: np.ndarray
    quadratic: np.ndarray


@dataclass(frozen=True)
class Field:
    """One force field: center and axis (3,) in the world; strength in m/s^2 per unit of mass.

    rest_length: distance of zero force in a harmonic field. noise: random part of the strength, m/s^2 per
    unit of mass. flow: rate of velocity loss per second, for all but harmonic and drag fields. damping: of a
    harmonic field the ratio; of a drag field the linear part, with the strength as the quadratic one. side: 1
    or -1 for fields that act on one side of their plane only, else 0. falloff: "SPHERE", "TUBE" or "CONE".
    radial: across the axis, in the field's unit of length, or in degrees for a cone.
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
    rest_length: float = 0.0
    noise: float = 0.0
    flow: float = 0.0
    damping: float = 0.0

    def resistance(self, points: np.ndarray, chance: np.ndarray | None = None) -> Resistance:
        """Resistance to the motion of points (k, 3); chance: (2, k), times the noise, for strength and
        damping.

        Negative coefficients, which would accelerate motion, become 0.
        """
        offset = points - self.center
        height = offset @ self.axis
        share = self._share(offset, height, np.linalg.norm(self._reach(offset, height), axis=1))
        strength, damping = np.array([[self.strength], [self.damping]]) + (
            np.zeros((2, len(points))) if chance is None else self.noise * chance
        )
        linear, quadratic = self.flow * share, np.zeros(len(points))
        if self.kind == "DRAG":
            linear, quadratic = (share * np.minimum(part, MOST_DRAG) for part in (damping, strength))
        elif self.kind == "HARMONIC":
            linear = np.where(share > 0.0, 2.0 * damping * np.sqrt(np.abs(strength)), 0.0)
        elif self._whirls:
            linear = linear + (share > 0.0)
        return Resistance(np.maximum(linear, 0.0), np.maximum(quadratic, 0.0))

    @property
    def _whirls(self) -> bool:
        """True if the field bends motion onto circles around the axis."""
        return self.kind == "VORTEX" and self.shape != "POINT"

    def acceleration(self, points: np.ndarray, noise: Noise, chance: np.ndarray | None = None) -> np.ndarray:
        """The acceleration (k, 3) of points (k, 3) at rest; chance: (k,), times the noise."""
        if self.kind == "DRAG":
            return np.zeros_like(points)
        offset = points - self.center
        height = offset @ self.axis
        reach = self._reach(offset, height)
        strength = self.strength if chance is None else self.strength + self.noise * chance
        share = strength * self._share(offset, height, np.linalg.norm(reach, axis=1))
        if self._whirls:
            return self._whirl(share[:, None] * self.axis, offset)
        return share[:, None] * self._direction(points, reach, noise)

    def _whirl(self, spin: np.ndarray, offset: np.ndarray) -> np.ndarray:
        """Acceleration of a resting point onto a circle around the axis: `w x r + w x (w x r)`, (k, 3)."""
        turned = np.cross(spin, offset)
        return turned + np.cross(spin, turned)

    def _reach(self, offset: np.ndarray, height: np.ndarray) -> np.ndarray:
        """Vectors to the points from the nearest place of the field's center, plane or axis."""
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
        distance = np.linalg.norm(reach, axis=1, keepdims=True)
        if self.kind == "VORTEX":
            return distance * unit(np.cross(self.axis, reach))
        if self.kind == "HARMONIC":
            return (self.rest_length - distance) * unit(reach)
        fall = distance**2 if self.gravitation else np.ones_like(distance)
        return np.divide(unit(reach), fall, out=np.zeros_like(reach), where=distance > NEAR)


def unit(vectors: np.ndarray) -> np.ndarray:
    """Unit vectors (k, 3); 0 for those without a direction."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, length, out=np.zeros_like(vectors), where=length > NEAR)
