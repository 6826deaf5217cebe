"""The motion of each mode in the shown frame over its frequency, in the right corner of the viewport."""

import bpy
import numpy as np

from ..bridge.preview import previews
from ..core.display import modes
from . import shading
from .legend import MARGIN, TEXT, measured, write

# Sizes at a resolution scale of 1, in pixels.
WIDTH, HEIGHT, BAR, STUB = 260.0, 90.0, 4.0, 3.0
BACK, COLOUR, CHOSEN = (0.0, 0.0, 0.0, 0.35), (0.25, 0.75, 0.70, 1.0), (1.0, 0.75, 0.15, 1.0)


def draw(context: bpy.types.Context, host: bpy.types.Object, inertia: np.ndarray) -> None:
    """Draws the plot. inertia: (m, 4, 4), `modes.moments` of the body."""
    size = context.preferences.system.ui_scale
    covered = max((region.width for region in context.area.regions if region.type == "UI"), default=0)
    left = context.region.width - covered - (WIDTH + MARGIN) * size
    bottom = (MARGIN + 1.8 * TEXT) * size
    hertz = np.array([mode.ratio for mode in host.jounce.modes_built]) * host.jounce.lowest_frequency()
    if len(hertz) != len(inertia) or left < 0.0:
        return
    lengths, title = amplitudes(host, inertia)
    rectangle(left, bottom, WIDTH * size, HEIGHT * size, BACK)
    for number, (x, height) in enumerate(zip(*places(hertz, lengths), strict=True)):
        colour = CHOSEN if number == host.jounce.mode_index else COLOUR
        width, tall = BAR * size, max(STUB, height * HEIGHT) * size
        rectangle(left + x * (WIDTH * size - width), bottom, width, tall, colour)
    write(title, left, bottom + (HEIGHT + 0.7 * TEXT) * size, size)
    last = f"{hertz.max():.3g} Hz"
    write("0", left, bottom - 1.5 * TEXT * size, size)
    write(last, left + WIDTH * size - measured(last, size)[0], bottom - 1.5 * TEXT * size, size)


def places(hertz: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of the bars and their heights, (m,) each, 0 to 1."""
    return hertz / max(hertz.max(), 1e-12), lengths / max(lengths.max(), 1e-12)


def amplitudes(host: bpy.types.Object, inertia: np.ndarray) -> tuple[np.ndarray, str]:
    """Root mean square displacement (m,) of each mode in the shown frame of the draft, metres; the title."""
    known = previews.session(host)
    frame = 0 if known is None else known.scene.frame_current
    shown = None if known is None or known.filling is None else known.cache.get(frame)
    if shown is None:
        return np.zeros(len(inertia)), "No motion of the draft in this frame"
    lengths = modes.amplitudes(inertia, shown)
    return lengths, f"Draft, frame {frame}: up to {1e3 * lengths.max():.3g} mm a mode"


def rectangle(x: float, y: float, width: float, height: float, colour: tuple[float, ...]) -> None:
    """Fills a rectangle, in pixels."""
    shading.fill([(x, y), (x + width, y), (x, y + height), (x + width, y + height)], colour)
