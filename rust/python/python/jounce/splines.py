"""Stress curves for `Material`: the two splines of [QN], Neo-Hookean flesh that resists one way more.

Both add a cubic to the stress of lengths, `2 mu (x - 1)^3`, spline A below the rest length and spline B
above. Rest and small strains do not change; at half or one and a half of the length, the addition is as stiff
as 1.5 mu. The paper shows its curves as pictures; the size of the cubic is chosen here.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

# Stretches of the knots; straight lines continue the curves.
STRETCHES = np.linspace(-1.0, 4.0, 201)
# Volume below which a parabola continues the logarithm, as in the law "neo_hookean".
LEAST_VOLUME = 0.5

Array = npt.NDArray[np.float64]
Curves = list[Array | None]


def resisting_compression(poisson: float = 0.4) -> Curves:
    """Spline A of [QN]: Neo-Hookean flesh that resists compression more.

    Parameters
    ----------
    poisson : float, default 0.4
        Ratio at rest, in [0, 0.5).

    Returns
    -------
    list of arrays
        Curves of lengths, areas (None) and the volume, for `Material`.

    Examples
    --------
    >>> curves = jounce.splines.resisting_compression()
    >>> material = jounce.Material(young=2e4, law="spline", curves=curves)
    """
    return _added(poisson, np.minimum(STRETCHES - 1.0, 0.0) ** 3)


def resisting_tension(poisson: float = 0.4) -> Curves:
    """Spline B of [QN]: Neo-Hookean flesh that resists tension more.

    Parameters
    ----------
    poisson : float, default 0.4
        Ratio at rest, in [0, 0.5).

    Returns
    -------
    list of arrays
        Curves of lengths, areas (None) and the volume, for `Material`.

    Examples
    --------
    >>> curves = jounce.splines.resisting_tension()
    >>> material = jounce.Material(young=2e4, law="spline", curves=curves)
    """
    return _added(poisson, np.maximum(STRETCHES - 1.0, 0.0) ** 3)


def _added(poisson: float, cubic: Array) -> Curves:
    """Neo-Hookean curves, in shares of Young's modulus, with a cubic in the stress of lengths."""
    if not 0.0 <= poisson < 0.5:
        raise ValueError(f"poisson: expected a number in [0, 0.5), got {poisson}")
    mu = 0.5 / (1.0 + poisson)
    lame = poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
    at = np.maximum(STRETCHES, LEAST_VOLUME)
    slope = (lame * (1.0 - np.log(at)) + mu) / at**2
    volume = (lame * np.log(at) - mu) / at + slope * (STRETCHES - at)
    length = mu * STRETCHES + 2.0 * mu * cubic
    return [np.stack([STRETCHES, length], axis=1), None, np.stack([STRETCHES, volume], axis=1)]
