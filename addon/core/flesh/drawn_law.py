"""Elastic law drawn by an artist: stress against stretch, as samples of a curve.

Only the shape of the curve counts. For a drawn curve `d(x)` flesh has the stress

    a'(x) = 2 mu (d(x) - d(1)) / d'(1) + lambda (x - 3), b'(x) = lambda,

which is corotated for a straight line: no stress at rest, and a slope at rest given by frequency or Young's
modulus. Samples are the coefficients of a monotone, twice continuously differentiable cubic B-spline,
extended by straight lines beyond the first and the last sample.
"""

import hashlib

import numpy as np

from ..common.user_error import UserError

# Stretches of the samples of a curve, including 1.
LEAST, MOST, SAMPLES = 0.0, 2.0, 41
STEP = (MOST - LEAST) / (SAMPLES - 1)
STRETCHES = np.linspace(LEAST, MOST, SAMPLES)
REST = round((1.0 - LEAST) / STEP)
# The default curve.
LINE = tuple(float(stretch) - 1.0 for stretch in STRETCHES)
# Rounding error of single precision, as a share of the curve's height; smaller falls are ignored.
LEVEL = 1e-5
# Largest slope of a curve relative to the slope at rest.
STEEPEST = 100.0

Curve = tuple[float, ...]
# Strains of the side on which each of the two splines of [QN] is stiffer.
SPLINES = {"COMPRESSION": np.minimum, "TENSION": np.maximum}


def stiffened(side: str, stretches: np.ndarray) -> np.ndarray:
    """The curve of a spline of [QN], `x - 1 + (x - 1)^3` on one side of rest and straight on the other."""
    strains = stretches - 1.0
    return strains + SPLINES[side](strains, 0.0) ** 3


def slope_at_rest(curve: Curve) -> float:
    """The slope of a curve at a stretch of 1."""
    return (curve[REST + 1] - curve[REST - 1]) / (2.0 * STEP)


def refuse(curve: Curve) -> None:
    """Refuses an invalid stress curve, in one sentence."""
    if not np.isfinite(curve).all():
        raise UserError("The curve of the law has points that are no numbers; press Straighten.")
    rises = np.diff(curve)
    falling = np.flatnonzero(rises < -LEVEL * np.ptp(curve))
    if len(falling):
        start = falling[0]
        rising = np.flatnonzero(rises[start:] >= 0.0)
        end = start + rising[0] if len(rising) else SAMPLES - 1
        raise UserError(
            f"The curve of the law falls from stretch {STRETCHES[start]:.2f} to {STRETCHES[end]:.2f}, where "
            "flesh would give way ever further; raise its points to the right of there, or press Straighten."
        )
    if slope_at_rest(curve) * STEEPEST * STEP < rises.max() or rises.max() <= 0.0:
        raise UserError(
            "The curve of the law is flat at stretch 1, where flesh rests and its frequency is meant; make "
            "it rise through the middle of the widget, or press Straighten."
        )


def stress(curve: Curve, stretches: np.ndarray) -> np.ndarray:
    """`(d(x) - d(1)) / d'(1)` of a curve at stretches; refuses an invalid stress."""
    refuse(curve)
    drawn = spline(curve, np.append(stretches, 1.0))
    return (drawn[:-1] - drawn[-1]) / slope_at_rest(curve)


def spline(curve: Curve, places: np.ndarray) -> np.ndarray:
    """The cubic B-spline with the samples of a curve as coefficients, (k,) at places (k,)."""
    first, last = curve[1] - curve[0], curve[-1] - curve[-2]
    coefficients = np.concatenate([[curve[0] - first], curve, [curve[-1] + last]])
    inside = np.clip(places, LEAST, MOST)
    away = np.abs((inside[:, None] - LEAST) / STEP - np.arange(-1.0, SAMPLES + 1.0))
    near, far = 2.0 / 3.0 - away**2 + away**3 / 2.0, np.maximum(2.0 - away, 0.0) ** 3 / 6.0
    values = np.where(away < 1.0, near, far) @ coefficients
    return values + (places - inside) / STEP * np.where(places < LEAST, first, last)


def digest(curve: Curve) -> str:
    """Identifier of a curve."""
    return hashlib.blake2b(np.array(curve).tobytes(), digest_size=16).hexdigest()
