"""A small picture of stress against stretch, as pixels."""

import numpy as np

SIZE = 192
# Half thickness of lines in pixels, and free margin above and below as a share.
THICK, MARGIN = 1.6, 0.06
STRESS_COLOUR, LINE_COLOUR, AXIS_COLOUR = (0.25, 0.75, 0.70, 1.0), (0.5, 0.5, 0.5, 0.6), (0.5, 0.5, 0.5, 0.35)

Colour = tuple[float, float, float, float]


def picture(stress: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Pixels (SIZE, SIZE, 4) f32, the lowest row first, with the stress at one stretch per column.

    stress, slope: (SIZE,), the stress of the flesh, and the stress with constant stiffness; 0 at rest, which
    is the middle column. The largest magnitude of the stress fills the height.
    """
    pixels = np.zeros((SIZE, SIZE, 4), np.float32)
    rest = np.arange(SIZE) - 0.5 * (SIZE - 1)
    paint(pixels, cover(rest[:, None]), AXIS_COLOUR)
    paint(pixels, cover(rest[None, :]), AXIS_COLOUR)
    highest = max(float(np.abs(stress).max()), 1e-30)
    for values, colour in ((slope, LINE_COLOUR), (stress, STRESS_COLOUR)):
        heights = values / highest * (0.5 - MARGIN) * SIZE
        # The distance of a pixel from a steep line is less than its vertical distance.
        steep = np.sqrt(1.0 + np.gradient(heights) ** 2)
        paint(pixels, cover((rest[:, None] - heights) / steep), colour)
    return pixels


def cover(distance: np.ndarray) -> np.ndarray:
    """Coverage of a pixel by a line at this distance in pixels."""
    return np.clip(THICK - np.abs(distance), 0.0, 1.0)


def paint(pixels: np.ndarray, covered: np.ndarray, colour: Colour) -> None:
    """Blends a colour over the covered pixels, by coverage."""
    share = (np.broadcast_to(covered, pixels.shape[:2]) * colour[3])[..., None]
    below = pixels[..., 3:] * (1.0 - share)
    alpha = share + below
    mixed = (share * np.array(colour[:3]) + below * pixels[..., :3]) / np.maximum(alpha, 1e-6)
    pixels[..., :3], pixels[..., 3:] = mixed, alpha
