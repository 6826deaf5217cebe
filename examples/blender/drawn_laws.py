"""The creature jumps with drawn laws: a curve for each take, and the stress as shown in the panel."""

from __future__ import annotations

from importlib import import_module

import bpy
import numpy as np
from figures import CELL
from lesson import Jump
from PIL import Image
from sheet import PAPER
from subjects import Shape

FIRMNESS = 4.5
Points = tuple[tuple[float, float], ...]
LAWS: dict[str, Points] = {
    "a straight line": ((0.0, -1.0), (2.0, 1.0)),
    "soft, then firm": ((0.0, -2.0), (0.8, -0.12), (1.0, 0.0), (1.2, 0.12), (2.0, 2.0)),
    "firm, then giving way": ((0.0, -0.8), (0.8, -0.45), (1.0, 0.0), (1.2, 0.45), (2.0, 0.8)),
}


class DrawnLaws(Jump):
    """The creature with a drawn law, made through the artist's buttons and curves."""

    def __init__(self) -> None:
        """Build the creature and make it a soft final body."""
        super().__init__(FIRMNESS)
        self.state.quality, self.state.law = "FINAL", "spline"

    def take(self, points: Points) -> list[Shape]:
        """The jump with these points on the curve."""
        bpy.ops.jounce.law_straighten()
        mapping = self.state.law_curve.nodes[0].mapping
        curve = mapping.curves[0]
        for _ in points[2:]:
            curve.points.new(1.0, 0.0)
        for point, place in zip(curve.points, points, strict=True):
            point.location = place
        mapping.update()
        self.state.law_curve.update_tag()
        return self.filled()

    def stress(self) -> Image.Image:
        """The stress of the present curve as shown in the panel."""
        flesh = type(self.state.flesh()).__module__.rpartition(".")[0]
        picture, laws = import_module(f"{flesh}.stress_picture"), import_module(f"{flesh}.laws")
        stretches = np.linspace(0.0, 2.0, picture.SIZE)
        pixels = picture.picture(laws.pulled(self.state.flesh(), stretches), stretches - 1.0)
        shown = Image.fromarray(np.round(255.0 * pixels[::-1]).astype(np.uint8), "RGBA")
        page = Image.new("RGB", shown.size, PAPER)
        page.paste(shown, mask=shown)
        return page.resize((CELL, CELL), Image.Resampling.LANCZOS)
