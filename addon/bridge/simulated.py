"""Whole shapes of a motion: what the rig and the flesh make together, read from the scene frame by frame."""

from collections.abc import Generator

import bpy
import numpy as np

from ..core.motion import Motion
from . import frames, rigs, stack, units
from .bodies import BodyScene
from .posed import evaluated_points

Shapes = Generator[list[tuple[np.ndarray, np.ndarray]], None, None]


def shapes(scene: BodyScene, body: object, motion: Motion, over: range, context: bpy.types.Context) -> Shapes:
    """For each frame and mesh its shape (p, 3) f64 in the object's space, and the (3, 4) to world and metres.

    Meshes are shown as their rigs leave them as long as it runs; close it.
    """
    scale = units.metres_per_unit(context.scene)
    with stack.shown_as_posed(scene.objects), frames.kept(context.scene):
        for frame, coefficients in zip(over, motion.coefficients, strict=True):
            context.scene.frame_set(frame)
            depsgraph = context.evaluated_depsgraph_get()
            moved = body.model.displacement(coefficients, body.embedding).astype(np.float64)
            made = []
            for obj, part in zip(scene.objects, scene.surface.parts, strict=True):
                to_metres = rigs.world_matrix(obj, depsgraph)[:3] * scale
                offsets = np.linalg.solve(to_metres[:, :3], moved[part.points].T).T
                made.append((evaluated_points(obj, depsgraph) + offsets, to_metres))
            yield made
