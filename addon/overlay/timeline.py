"""A thin strip along the bottom of timelines for each previewed body, with its cached frames.

Frames that have not converged and keyed shapes are marked in it.

The handler exists only during previews.
"""

import bpy

from ..bridge.preview import previews
from . import shading

FRESH_COLOUR = (0.25, 0.75, 0.70, 0.9)
STALE_COLOUR = (0.95, 0.60, 0.20, 0.9)
ROUGH_COLOUR = (0.90, 0.25, 0.30, 0.9)
KEY_COLOUR, MUTED_COLOUR = (1.0, 0.75, 0.15, 1.0), (0.55, 0.55, 0.55, 1.0)
# In pixels at a resolution scale of 1; bodies stand above each other.
BOTTOM, HEIGHT, GAP = 1.0, 4.0, 1.0
# Half the width of a key's diamond.
KEY = 5.0

_handlers: list[object] = []


def register() -> None:
    """Waits for previews."""
    previews.WATCHERS.append(sync)


def unregister() -> None:
    """Draws no more."""
    sync(False)
    previews.WATCHERS.remove(sync)


def sync(wanted: bool) -> None:
    """Adds or removes the handler."""
    if wanted and not _handlers:
        add = bpy.types.SpaceDopeSheetEditor.draw_handler_add
        _handlers.append(add(draw, (), "WINDOW", "POST_PIXEL"))
    elif not wanted and _handlers:
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(_handlers.pop(), "WINDOW")


def draw() -> None:
    """Draws the strips of a timeline's scene; other dope sheets stay unchanged."""
    context = bpy.context
    if context.space_data.mode != "TIMELINE":
        return
    scale = context.preferences.system.ui_scale
    shown = (each(context.scene) for each in (previews.strips, previews.rough, previews.keyed))
    for row, (frames, rough, keys) in enumerate(zip(*shown, strict=True)):
        bottom = (BOTTOM + row * (HEIGHT + GAP)) * scale
        marks = [(range(frame, frame + 1), ROUGH_COLOUR) for frame in rough]
        for part, colour in [*zip(frames, (FRESH_COLOUR, STALE_COLOUR), strict=True), *marks]:
            if len(part):
                draw_bar(context.region, part, bottom, HEIGHT * scale, colour)
        for frames_of, colour in zip(keys, (KEY_COLOUR, MUTED_COLOUR), strict=True):
            for frame in frames_of:
                draw_key(context.region, frame, bottom + 0.5 * HEIGHT * scale, KEY * scale, colour)


def draw_bar(
    region: bpy.types.Region, frames: range, bottom: float, height: float, colour: tuple[float, ...]
) -> None:
    """Draws a bar over some frames, half a frame beyond the first and the last."""
    ends = (frames.start - 0.5, frames.stop - 0.5)
    left, right = (region.view2d.view_to_region(end, 0.0, clip=False)[0] for end in ends)
    shading.fill([(left, bottom), (right, bottom), (left, bottom + height), (right, bottom + height)], colour)


def draw_key(
    region: bpy.types.Region, frame: int, middle: float, size: float, colour: tuple[float, ...]
) -> None:
    """Draws a diamond at a frame, above the bottom of the region."""
    x, _ = region.view2d.view_to_region(frame, 0.0, clip=False)
    middle = max(middle, size)
    shading.fill([(x - size, middle), (x, middle - size), (x, middle + size), (x + size, middle)], colour)
