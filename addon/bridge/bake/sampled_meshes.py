"""Whole shapes of a motion: the combined result of rig and flesh, read from the scene frame by frame."""

from collections.abc import Generator

import bpy
import numpy as np

from ...core.body.full_space import Shaper, shaped
from ...core.stepping.motion import Motion
from ..body.bodies import BodyScene
from ..common import frames, units
from ..rig import bone_transforms, meshes, modifier_stack
from ..rig.doubles import evaluated_points

Shapes = Generator[list[tuple[np.ndarray, np.ndarray]], None, None]


def shapes(scene: BodyScene, body: Shaper, motion: Motion, over: range, context: bpy.types.Context) -> Shapes:
    """For each frame and mesh the shape (p, 3) f64 in object space, and the (3, 4) to world and metres.

    Meshes are shown in their rigged shape while the generator runs; close the generator. In frames with held
    flesh there is no transform to the world. The mesh then has the offsets of the frame before, or without
    one, its shape.
    """
    scale = units.metres_per_unit(context.scene)
    offsets = [np.zeros((part.points.stop - part.points.start, 3)) for part in scene.surface.parts]
    posed = [meshes.rest_points(obj) for obj in scene.objects]
    with modifier_stack.shown_as_posed(scene.objects) as hide_later, frames.kept(context.scene):
        for row, (frame, coefficients) in enumerate(zip(over, motion.coefficients, strict=True)):
            context.scene.frame_set(frame)
            hide_later()
            depsgraph = context.evaluated_depsgraph_get()
            moved = shaped(body, coefficients).astype(np.float64)
            made = []
            for index, (obj, part) in enumerate(zip(scene.objects, scene.surface.parts, strict=True)):
                to_metres = np.zeros((3, 4))
                if row not in motion.held:
                    to_metres = bone_transforms.world_matrix(obj, depsgraph)[:3] * scale
                    offsets[index] = np.linalg.solve(to_metres[:, :3], moved[part.points].T).T
                now = evaluated_points(obj, depsgraph)
                posed[index] = now if np.isfinite(now).all() else posed[index]
                made.append((posed[index] + offsets[index], to_metres))
            yield made
