"""The stitches of a body in the viewport: one line each, on the displayed meshes."""

import bpy
import numpy as np

from ..bridge.body import stitches
from ..bridge.preview import evaluated_meshes
from . import shading

HELD_COLOUR = (0.95, 0.35, 0.75, 1.0)
LOOSE_COLOUR = (0.6, 0.6, 0.6, 0.7)


def draw(host: bpy.types.Object, context: bpy.types.Context) -> None:
    """Draws all stitch groups, inactive ones in grey."""
    depsgraph = context.evaluated_depsgraph_get()
    shown: dict[bpy.types.Object, np.ndarray] = {}
    for seam in host.jounce.seams:
        ends = (seam.mesh_a, seam.mesh_b)
        if None in ends or len(seam.pairs) == 0:
            continue
        for obj in ends:
            if obj not in shown:
                shown[obj] = evaluated_meshes.shape(obj, depsgraph).in_metres(1.0)
        pairs = stitches.vertices(seam)
        if any(column.max() >= len(shown[obj]) for obj, column in zip(ends, pairs.T, strict=True)):
            continue
        lines = np.stack([shown[obj][column] for obj, column in zip(ends, pairs.T, strict=True)], axis=1)
        shading.draw_lines(
            shading.line_batch(lines.reshape(-1, 3)), HELD_COLOUR if seam.use else LOOSE_COLOUR
        )
