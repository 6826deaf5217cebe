"""Painted maps in the native module's form: a number at each point of a surface."""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

# A weight above this pins a point.
PINNED = 0.5
# Weight of a centred stiffness map for unchanged stiffness.
HALF = 0.5
# Pin weight of a surface without volume and without a map: the surface then swings about its posed places by
# a few percent of its size.
SOFTLY = 0.125
# Blended factors closer to 1 than this are 1.
ROUNDING = 1e-6


class Kind(Enum):
    """Meaning of a vertex group for the flesh."""

    STIFFNESS = "STIFFNESS"
    LEAK = "LEAK"
    PIN = "PIN"
    STRENGTH = "STRENGTH"
    MUSCLE = "MUSCLE"


# Weights equivalent to no map; that of stiffness depends on the scale, and a surface without volume is held
# softly.
USUAL = {Kind.LEAK: 1.0, Kind.PIN: 0.0, Kind.STRENGTH: 1.0, Kind.MUSCLE: 0.0}


@dataclass(frozen=True)
class Maps:
    """Values at the points of a surface, (p,) each; None where nothing is painted.

    stiffness: factor on Young's modulus, f64 > 0. leak: share of the default leak, f64 in [0, 1].
    pinned: bool. strength: factor on the rig's acceleration, f64 >= 0.
    """

    stiffness: np.ndarray | None = None
    leak: np.ndarray | None = None
    pinned: np.ndarray | None = None
    strength: np.ndarray | None = None

    def with_leak(self, factors: np.ndarray) -> "Maps":
        """The same maps with the leak multiplied by factors (p,) in [0, 1] from the bones."""
        if (factors >= 1.0 - ROUNDING).all():
            return self
        factors = np.clip(factors, 0.0, 1.0)
        return replace(self, leak=factors if self.leak is None else self.leak * factors)

    def with_parts(self, strength: np.ndarray | None, stiffness: np.ndarray | None) -> "Maps":
        """The same maps with factors (p,) on strength and stiffness from parts; None for none."""
        return replace(
            self, strength=product(self.strength, strength), stiffness=product(self.stiffness, stiffness)
        )


@dataclass(frozen=True)
class StiffnessScale:
    """Meaning of the weights of a stiffness map. soft, stiff: factors on Young's modulus at weights 0 and 1.

    centred: True if a weight of a half leaves the stiffness unchanged. Otherwise the factors go linearly from
    soft to stiff, as in files from before this choice.
    """

    soft: float
    stiff: float
    centred: bool

    @property
    def neutral(self) -> float:
        """The weight used without a map."""
        return HALF if self.centred else 0.0

    def factors(self, weights: np.ndarray) -> np.ndarray:
        """Equal steps of the weight are equal factors of the stiffness, on each side of a half if centred.

        `soft^(1 - w) stiff^w`; centred `soft^(1 - 2 w)` below a half, `stiff^(2 w - 1)` above.
        """
        soft, stiff = np.log(self.soft), np.log(self.stiff)
        if not self.centred:
            return np.exp((1.0 - weights) * soft + weights * stiff)
        side = (weights - HALF) / HALF
        return np.exp(np.where(side < 0.0, -side * soft, side * stiff))


def neutral(kind: Kind, scale: StiffnessScale, is_attached: bool = False) -> float:
    """The weight equivalent to no map. is_attached: for a surface without volume."""
    if kind is Kind.PIN and is_attached:
        return SOFTLY
    return scale.neutral if kind is Kind.STIFFNESS else USUAL[kind]


def maps(painted: dict[Kind, np.ndarray], scale: StiffnessScale) -> Maps:
    """Maps from group weights (p,) in [0, 1]; a map equivalent to none is omitted.

    The muscle map is not included: only the final motion uses muscles.
    """
    stiffness, pin = painted.get(Kind.STIFFNESS), painted.get(Kind.PIN)
    return Maps(
        stiffness=told(None if stiffness is None else scale.factors(stiffness), 1.0),
        leak=told(painted.get(Kind.LEAK), USUAL[Kind.LEAK]),
        pinned=told(None if pin is None else pin > PINNED, False),
        strength=told(painted.get(Kind.STRENGTH), USUAL[Kind.STRENGTH]),
    )


def attached(painted: dict[Kind, np.ndarray]) -> np.ndarray | None:
    """Pin weights of a surface without volume at each point (p,), None without pins."""
    return told(painted[Kind.PIN], USUAL[Kind.PIN])


def product(values: np.ndarray | None, factors: np.ndarray | None) -> np.ndarray | None:
    """Products of two maps of factors, either of which may be None."""
    if values is None or factors is None:
        return values if factors is None else factors
    return values * factors


def told(values: np.ndarray | None, usual: float) -> np.ndarray | None:
    """The values of a map, None if all have the usual value."""
    return None if values is None or (values == usual).all() else values
