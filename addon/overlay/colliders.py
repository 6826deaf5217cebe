"""Colliders of the active body in the viewport, in their effective shape."""

import bpy
import numpy as np

from ..bridge.body import bodies
from ..bridge.common import units
from ..bridge.loads import colliders
from ..bridge.rig import bone_transforms
from ..core.display import collider_lines
from . import shading

COLOUR = (0.35, 0.85, 0.45, 0.9)


def draw(host: bpy.types.Object, context: bpy.types.Context) -> None:
    """Draws all shapes in their places of this frame."""
    depsgraph = context.evaluated_depsgraph_get()
    unit = units.metres_per_unit(context.scene)
    for obj in colliders.candidates(host):
        if colliders.soft(host, obj) is not None or colliders.left_out(
            obj, bodies.members(host), context.evaluated_depsgraph_get()
        ):
            continue
        matrix = bone_transforms.world_matrix(obj, depsgraph)[:3] * unit
        if not np.isfinite(matrix).all():
            continue
        lines = collider_lines.lines(colliders.solid(obj, context), matrix)
        if len(lines):
            shading.draw_lines(shading.line_batch(lines.reshape(-1, 3) / unit), COLOUR)
