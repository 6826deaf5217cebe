"""The creature drops onto its belly; the ground stops the belly or lets it pass."""

from __future__ import annotations

import math

import bpy
import creature
import flesh
import numpy as np
import studio
from mathutils import Euler
from subjects import Shape

FRAMES = range(1, 31)
# Frame: forward lean of the creature (degrees), and height of its middle (m).
FALL = {1: (0.0, 0.62), 4: (12.0, 0.64), 8: (55.0, 0.55), 12: (88.0, 0.29), 30: (88.0, 0.29)}
MIDDLE = np.array([0.0, 0.03, 0.45])
SIDEWAYS = math.radians(-70.0)
FIRMNESS = 6.0


class BellyFlop:
    """The belly flop, recorded with and without collisions through the artist's operators."""

    def __init__(self) -> None:
        """Build and animate the creature in an empty file, and make it a body."""
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        built = creature.build(40)
        self.meshes = [built.body, *built.parts]
        self.host = built.body
        self._drop(built.armature)
        flesh.select([built.armature])
        bpy.ops.jounce.setup()
        state = self.host.jounce
        state.quality, state.frequency, state.damping = "FINAL", FIRMNESS, 0.2
        flesh.select([built.body])

    def free(self) -> list[Shape]:
        """The motion without collisions."""
        self.host.jounce.use_collisions = False
        return studio.record(self.meshes, FRAMES)

    def landed(self) -> list[Shape]:
        """The motion with collisions with the ground at z = 0."""
        bpy.ops.jounce.ground()
        [ground] = self.host.jounce.collision_collection.objects
        ground.location.z = 0.0
        bpy.context.view_layer.update()
        return studio.record(self.meshes, FRAMES)

    def _drop(self, armature: bpy.types.Object) -> None:
        armature.animation_data_clear()
        for bone in armature.pose.bones:
            bone.matrix_basis.identity()
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end = FRAMES.start, FRAMES.stop - 1
        for frame, (lean, height) in FALL.items():
            turn = Euler((math.radians(lean), 0.0, SIDEWAYS))
            armature.rotation_euler = turn
            armature.location = np.array([0.0, 0.0, height]) - np.array(turn.to_matrix()) @ MIDDLE
            armature.keyframe_insert("location", frame=frame)
            armature.keyframe_insert("rotation_euler", frame=frame)
        scene.frame_set(FRAMES.start)
