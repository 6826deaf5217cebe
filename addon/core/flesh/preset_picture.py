"""A small picture of a preset, as pixels: a soft ball that drops and swings out, over time."""

import numpy as np

from .stress_picture import Colour, paint

SIZE = 128
# Swings in the picture at a softness of 1, and steps in it for the damping of a calm integrator.
SWINGS, STEPS = 3.4, 90.0
# As shares of the picture: radius and place of the ball, start and half thickness of the curve, its height.
RADIUS, BALL, CURVE, THICK, HIGHEST = 0.17, 0.24, 0.46, 0.018, 0.36
# Squash of the ball at the highest swing.
SQUASH = 0.35
FIRM, SOFT, GHOST = (0.27, 0.62, 0.88, 1.0), (0.95, 0.45, 0.42, 1.0), (0.6, 0.6, 0.6, 0.45)


def picture(softness: float, amount: float, damping: float, is_calm: bool) -> np.ndarray:
    """Pixels (SIZE, SIZE, 4) f32, the lowest row first.

    Left the ball at rest and where it is thrown to, right its height over time: higher for more amount and
    softness, slower for more softness. is_calm: True if the integrator takes swings away too.
    """
    pixels = np.zeros((SIZE, SIZE, 4), np.float32)
    y, x = (np.mgrid[:SIZE, :SIZE] + 0.5) / SIZE
    thrown = HIGHEST * np.tanh(0.55 * amount * softness**0.5)
    colour = tint(softness)
    paint(pixels, ring(x - BALL, y - 0.5), GHOST)
    squash = 1.0 - SQUASH * thrown / HIGHEST
    paint(pixels, disc((x - BALL) * squash**0.5, (y - 0.5 + thrown) / squash), colour)
    times = np.clip((x[0] - CURVE) / (1.0 - CURVE), 0.0, None)
    rate = 2.0 * np.pi * SWINGS / softness**0.5
    ratio = damping + (rate / (2.0 * STEPS) if is_calm else 0.0)
    heights = 0.5 - thrown * np.exp(-ratio * rate * times) * np.cos(rate * times)
    steep = np.sqrt(1.0 + (np.gradient(heights) * SIZE) ** 2)
    right = np.where(x >= CURVE, 1.0, 0.0)
    paint(pixels, right * covered((y - 0.5), 0.3 * THICK), GHOST)
    paint(pixels, right * covered((y - heights) / steep, THICK), colour)
    return pixels


def tint(softness: float) -> Colour:
    """Colour between firm and soft."""
    share = np.clip(0.5 + 0.5 * np.log(softness) / np.log(4.0), 0.0, 1.0)
    red, green, blue, alpha = ((1.0 - share) * np.array(FIRM) + share * np.array(SOFT)).tolist()
    return red, green, blue, alpha


def disc(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Coverage of pixels by a ball at these offsets from its centre."""
    return np.clip((RADIUS - np.hypot(x, y)) * SIZE + 0.5, 0.0, 1.0)


def ring(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Coverage of pixels by the outline of a ball."""
    return covered(np.hypot(x, y) - RADIUS, 0.6 * THICK)


def covered(distance: np.ndarray, thick: float) -> np.ndarray:
    """Coverage of pixels by a line of this half thickness at a distance."""
    return np.clip((thick - np.abs(distance)) * SIZE + 0.5, 0.0, 1.0)
