"""Painted maps as the native module takes them: a number at each point of a surface."""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

# A weight above this pins a point.
PINNED = 0.5
# Blended factors that miss 1 by less are 1.
ROUNDING = 1e-6


class Kind(Enum):
    """What a vertex group says about the flesh."""

    STIFFNESS = "STIFFNESS"
    LEAK = "LEAK"
    PIN = "PIN"
    STRENGTH = "STRENGTH"


@dataclass(frozen=True)
class Maps:
    """Values at the points of a surface, (p,) each; None where nothing is painted.

    stiffness: factor on Young's modulus, f64 > 0. leak: share of the default leak, f64 in [0, 1].
    pinned: bool. strength: factor on the rig's acceleration, f64 in [0, 1].
    """

    stiffness: np.ndarray | None = None
    leak: np.ndarray | None = None
    pinned: np.ndarray | None = None
    strength: np.ndarray | None = None

    def with_leak(self, factors: np.ndarray) -> "Maps":
        """The same with the leak times factors (p,) in [0, 1], what the bones let in."""
        if (factors >= 1.0 - ROUNDING).all():
            return self
        factors = np.clip(factors, 0.0, 1.0)
        return replace(self, leak=factors if self.leak is None else self.leak * factors)


def maps(painted: dict[Kind, np.ndarray], soft: float, stiff: float) -> Maps:
    """Maps from group weights (p,) in [0, 1]; soft, stiff: factors on Young's modulus at weights 0 and 1.

    A map that says the same as none is none.
    """
    stiffness, pin = painted.get(Kind.STIFFNESS), painted.get(Kind.PIN)
    return Maps(
        stiffness=told(None if stiffness is None else stiffness_factors(stiffness, soft, stiff), 1.0),
        leak=told(painted.get(Kind.LEAK), 1.0),
        pinned=told(None if pin is None else pin > PINNED, False),
        strength=told(painted.get(Kind.STRENGTH), 1.0),
    )


def told(values: np.ndarray | None, usual: float) -> np.ndarray | None:
    """The values of a map, None where all are the usual one."""
    return None if values is None or (values == usual).all() else values


def stiffness_factors(weights: np.ndarray, soft: float, stiff: float) -> np.ndarray:
    """`soft^(1 - w) stiff^w`: equal steps of the weight are equal factors of the stiffness."""
    return np.exp((1.0 - weights) * np.log(soft) + weights * np.log(stiff))
