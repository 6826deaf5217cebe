"""The colour scale in the corner of the viewport, with title, unit and numbers."""

import blf
import bpy
import gpu
import numpy as np
from gpu_extras.batch import batch_for_shader

from ..core.display.colours import Scale

# Sizes at a resolution scale of 1, in pixels.
WIDTH, HEIGHT, MARGIN, TEXT = 200, 12, 24, 12
STEPS = 64
FONT = 0
SHADOW = (0.0, 0.0, 0.0, 0.7)


def draw(region: bpy.types.Region, left: float, scale: Scale | None, note: str) -> None:
    """Draws a scale with a note above. left: width of the region's covered side, in pixels."""
    size = bpy.context.preferences.system.ui_scale
    x, y = left + MARGIN * size, MARGIN * size
    if scale is not None:
        if scale.ticks():
            draw_bar(scale, x, y + 1.6 * TEXT * size, size)
            for place, text in scale.ticks():
                width, _ = measured(text, size)
                write(text, x + place * (WIDTH * size - width), y, size)
            y += (1.6 * TEXT + HEIGHT + 0.7 * TEXT) * size
        title = f"{scale.title} ({scale.unit})" if scale.unit else scale.title
        write(title, x, y, size)
        y += 1.8 * TEXT * size
    if note:
        write(note, x, y, size)


def draw_bar(scale: Scale, x: float, y: float, size: float) -> None:
    """The colours of a scale, side by side."""
    across = x + np.linspace(0.0, WIDTH * size, STEPS)
    points = np.stack(
        [np.repeat(across, 2), np.tile([y, y + HEIGHT * size], STEPS)], axis=-1, dtype=np.float32
    )
    colours = np.ones((2 * STEPS, 4), np.float32)
    colours[:, :3] = np.repeat(scale.bar(STEPS), 2, axis=0)
    shader = gpu.shader.from_builtin("SMOOTH_COLOR")
    batch_for_shader(shader, "TRI_STRIP", {"pos": points, "color": colours}).draw(shader)


def measured(text: str, size: float) -> tuple[float, float]:
    """Width and height of a text in pixels."""
    blf.size(FONT, TEXT * size)
    return blf.dimensions(FONT, text)


def write(text: str, x: float, y: float, size: float) -> None:
    """Writes a text readable on any background."""
    blf.size(FONT, TEXT * size)
    blf.enable(FONT, blf.SHADOW)
    blf.shadow(FONT, 3, *SHADOW)
    blf.color(FONT, 1.0, 1.0, 1.0, 1.0)
    blf.position(FONT, x, y, 0.0)
    blf.draw(FONT, text)
    blf.disable(FONT, blf.SHADOW)
