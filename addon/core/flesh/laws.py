"""The stress of flesh: of each law, of a drawn law, and of hardening in addition.

A law is one energy of the principal stretches, `sum_i a(s_i) + sum_(i < j) b(s_i s_j) + c(s_1 s_2 s_3)`, as
in docs/methods/quasi_newton.md. Hardening `H` replaces `a` by `a(x) + 2/3 H mu (x - 1)^4`: no change at rest,
and flesh without volume preservation is `1 + H` times as stiff at a length change of a half. For hardening
flesh and for drawn laws the native module takes the derivatives as curves.
"""

from collections.abc import Callable

import numpy as np

from . import drawn_law
from .settings import Flesh, Law

# Stretches at the knots of curves, including 1; straight lines continue the curves beyond.
LEAST, MOST, KNOTS = -1.0, 4.0, 201
# Bisection steps for the sides of a bar, from a thickness of 0 to this multiple of the thickness at rest.
HALVINGS, THICKEST = 50, 4.0
# As in the native module: the volume below which parabolas continue logarithms, the shares of mu in a
# Mooney-Rivlin law, and the barrier of St. Venant-Kirchhoff's law.
LEAST_VOLUME, LENGTHS, AREAS, BARRIER = 0.5, 0.4, 0.1, 200.0

Stress = Callable[[np.ndarray], np.ndarray]
Stresses = tuple[Stress, Stress | None, Stress | None]
Curves = tuple[np.ndarray, np.ndarray | None, np.ndarray | None]


def curves(flesh: Flesh) -> Curves:
    """The derivatives of a, b and c of flesh, (k, 2) each of stretches and shares of Young's modulus."""
    length, area, volume = stresses(flesh)
    stretches = np.linspace(LEAST, MOST, KNOTS)
    return (
        np.stack([stretches, length(stretches)], axis=1),
        None if area is None else np.stack([stretches, area(stretches)], axis=1),
        None if volume is None else np.stack([stretches, volume(stretches)], axis=1),
    )


def pulled(flesh: Flesh, stretches: np.ndarray) -> np.ndarray:
    """The force on a bar with free sides, over its area at rest, in shares of Young's modulus.

    With the stretch y of the sides, `a'(y) + x b'(x y) + y b'(y^2) + x y c'(x y^2) = 0`.
    """
    length, area, volume = stresses(flesh)

    def stress(along: np.ndarray, beside: np.ndarray, third: np.ndarray) -> np.ndarray:
        total = length(along)
        if area is not None:
            total = total + beside * area(along * beside) + third * area(along * third)
        return total if volume is None else total + beside * third * volume(along * beside * third)

    thin, thick = np.zeros_like(stretches), np.full_like(stretches, THICKEST)
    for _ in range(HALVINGS):
        sides = 0.5 * (thin + thick)
        is_thick = stress(sides, stretches, sides) > 0.0
        thin, thick = np.where(is_thick, thin, sides), np.where(is_thick, sides, thick)
    sides = 0.5 * (thin + thick)
    return stress(stretches, sides, sides)


def stresses(flesh: Flesh) -> Stresses:
    """The derivatives of a, b and c of flesh, in shares of Young's modulus."""
    mu = 0.5 / (1.0 + flesh.poisson)
    lame = flesh.poisson / ((1.0 + flesh.poisson) * (1.0 - 2.0 * flesh.poisson))
    is_curve = flesh.law is Law.CURVE
    length, area, volume = drawn(mu, lame, flesh.curve) if is_curve else STRESSES[flesh.law](mu, lame)
    hardening = 8.0 / 3.0 * flesh.hardening * mu
    return lambda x: length(x) + hardening * (x - 1.0) ** 3, area, volume


def corotated(mu: float, lame: float) -> Stresses:
    """Stresses of `mu |F - R|^2 + lambda / 2 tr^2(R'F - I)`."""
    return lambda x: 2.0 * mu * (x - 1.0) + lame * (x - 3.0), lambda x: lame + 0.0 * x, None


def drawn(mu: float, lame: float, curve: drawn_law.Curve) -> Stresses:
    """Stresses of corotated flesh with a drawn curve in place of a straight line."""
    return lambda x: 2.0 * mu * drawn_law.stress(curve, x) + lame * (x - 3.0), lambda x: lame + 0.0 * x, None


def neo_hookean(mu: float, lame: float) -> Stresses:
    """Stresses of `mu / 2 (|F|^2 - 3) - mu ln J + lambda / 2 ln^2 J`."""
    return lambda x: mu * x, None, logarithmic(mu, lame)


def mooney_rivlin(mu: float, lame: float) -> Stresses:
    """Stresses of `c1 (|F|^2 - 3) + c2 (|cof F|^2 - 3)` and logarithms."""
    lengths, areas = LENGTHS * mu, AREAS * mu
    volume = logarithmic(2.0 * (lengths + 2.0 * areas), lame - 4.0 * areas)
    return lambda x: 2.0 * lengths * x, lambda x: 2.0 * areas * x, volume


def venant(mu: float, lame: float) -> Stresses:
    """Stresses of `mu |E|^2 + lambda / 2 tr^2 E` of Green's strain, and of the barrier against mirrored
    shapes.
    """
    stiffness = BARRIER * (mu + 0.5 * lame)
    return (
        lambda x: mu * x * (x * x - 1.0) + 0.5 * lame * x * (x * x - 3.0),
        lambda x: 0.5 * lame * x,
        lambda j: -stiffness / 24.0 * (np.maximum(1.0 - j, 0.0) / 6.0) ** 2,
    )


def logarithmic(pull: float, lame: float) -> Stress:
    """Stress of `-pull ln J + lambda / 2 ln^2 J`, continued by a parabola below the smallest volume."""

    def stress(j: np.ndarray) -> np.ndarray:
        at = np.maximum(j, LEAST_VOLUME)
        slope = (lame * (1.0 - np.log(at)) + pull) / (at * at)
        return (lame * np.log(at) - pull) / at + slope * (j - at)

    return stress


STRESSES: dict[Law, Callable[[float, float], Stresses]] = {
    Law.COROTATED: corotated,
    Law.NEO_HOOKEAN: neo_hookean,
    Law.MOONEY_RIVLIN: mooney_rivlin,
    Law.VENANT: venant,
}
