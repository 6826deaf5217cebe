"""The creature learns its jump: pictures of the draft, the learnt and the final motion."""

from __future__ import annotations

import bpy
import creature
import flesh
import numpy as np
import studio
from subjects import Shape

FRAMES = range(1, 41)
FIRMNESS = 7.0


class Jump:
    """The jumping creature, a body without limits."""

    def __init__(self, firmness: float) -> None:
        """Build in an empty file. firmness: frequency, Hz."""
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        built = creature.build(40)
        self.meshes = [built.body, *built.parts]
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end = FRAMES.start, FRAMES.stop - 1
        flesh.select([built.armature])
        bpy.ops.jounce.setup()
        self.state = built.body.jounce
        self.state.frequency, self.state.use_stretch, self.state.use_limit = firmness, False, False
        flesh.select([built.body])

    def filled(self) -> list[Shape]:
        """The jump as cached."""
        bpy.ops.jounce.fill_cache()
        return studio.record(self.meshes, FRAMES)


class Lesson(Jump):
    """The jump learnt through the artist's operator."""

    def __init__(self) -> None:
        """Build the creature and let it learn."""
        super().__init__(FIRMNESS)
        bpy.ops.jounce.learn()

    def take(self, quality: str) -> list[Shape]:
        """The jump at a quality."""
        self.state.quality = quality
        return self.filled()


def apart(shape: Shape, other: Shape) -> list[np.ndarray]:
    """Distances of the points of two shapes, mesh by mesh, relative to the size of one."""
    size = np.linalg.norm(np.ptp(np.concatenate(other), axis=0))
    return [np.linalg.norm(a - b, axis=1) / size for a, b in zip(shape, other, strict=True)]
