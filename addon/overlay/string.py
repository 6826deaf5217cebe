"""The string between a place on the flesh and the pulling mouse."""

import bpy
import numpy as np

from . import shading

COLOUR = (1.0, 0.55, 0.15, 1.0)


class String:
    """Drawn in all viewports until closed."""

    def __init__(self) -> None:
        self.ends: np.ndarray | None = None
        add = bpy.types.SpaceView3D.draw_handler_add
        self._handler = add(self._draw, (), "WINDOW", "POST_VIEW")

    def _draw(self) -> None:
        """Ends: (2, 3) in Blender units, or none."""
        if self.ends is not None:
            shading.draw_lines(shading.line_batch(self.ends), COLOUR)

    def close(self) -> None:
        """Draws no more."""
        bpy.types.SpaceView3D.draw_handler_remove(self._handler, "WINDOW")
