"""Three blocks of jelly that fall into a heap, through each other and in contact with each other."""

from __future__ import annotations

import math

import bpy
import flesh
import studio
import thrown_jelly
from subjects import Shape

FRAMES = range(1, 25)
# Initial position of each block, in m, and its tilt, in degrees.
STARTS = [
    ((0.0, 0.0, 0.16), (0.0, 0.0, 15.0)),
    ((0.07, 0.02, 0.54), (0.0, 0.0, 40.0)),
    ((-0.02, -0.03, 0.92), (0.0, 0.0, 5.0)),
]
# Factor on the frequency from Add Jounce, and damping ratio.
SOFTENED, DAMPING = 0.8, 0.4
COLOURS = [(0.80, 0.36, 0.42), (0.36, 0.62, 0.78), (0.88, 0.70, 0.30)]


class TouchingJellies:
    """The blocks, dropped through the artist's settings."""

    def __init__(self) -> None:
        """Build in an empty file, and make free bodies, colliding with the ground at z = 0."""
        thrown_jelly.empty_shot(FRAMES)
        self.blocks = []
        for (place, degrees), colour in zip(STARTS, COLOURS, strict=True):
            self.blocks.append(thrown_jelly.block(place, tuple(map(math.radians, degrees)), colour))
        for block in self.blocks:
            flesh.select([block])
            bpy.ops.jounce.setup()
            block.jounce.frequency *= SOFTENED
            block.jounce.damping = DAMPING
        flesh.select(self.blocks[:1])
        bpy.ops.jounce.ground()
        self.collection = self.blocks[0].jounce.collision_collection
        [ground] = self.collection.objects
        ground.location.z = 0.0
        for block in self.blocks:
            block.jounce.use_collisions, block.jounce.collision_collection = True, self.collection
        bpy.context.view_layer.update()

    def apart(self) -> list[Shape]:
        """Their motion with the ground alone in their collision collection."""
        return studio.record(self.blocks, FRAMES)

    def touching(self) -> list[Shape]:
        """Their motion with the blocks in it too."""
        for block in self.blocks:
            self.collection.objects.link(block)
        bpy.context.view_layer.update()
        return studio.record(self.blocks, FRAMES)
