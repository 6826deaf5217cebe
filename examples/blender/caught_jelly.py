"""A block of jelly that an arm throws up and catches, as built and inflated in flight."""

from __future__ import annotations

import math

import bmesh
import bpy
import creature
import flesh
import numpy as np
import studio
import thrown_jelly
from mathutils import Matrix
from subjects import Shape

FRAMES = range(1, 42)
LENGTH, RADIUS, DISH = 0.8, 0.05, 0.24
COLOUR = (0.45, 0.52, 0.62)
# Frame: angle of the arm below horizontal, in degrees; it releases the block at 0.
SWING = {1: 30.0, 5: 34.0, 12: -14.0, 19: -4.0, 28: 12.0, 36: 4.0}
LET_GO, CAUGHT, CATCH = 11, 20, 0.35
# Frame: inflation of the block, as a factor on its lengths.
INFLATED = {12: 1.0, 17: 1.5, 20: 1.5, 27: 1.0}


class CaughtJelly:
    """The block, thrown and caught through the artist's settings."""

    def __init__(self) -> None:
        """Build in an empty file, and make a free body, first held by its object."""
        thrown_jelly.empty_shot(FRAMES)
        self.arm = _arm()
        self.block = thrown_jelly.block((LENGTH, 0.0, 0.3 * DISH + thrown_jelly.HALF))
        self.block.parent = self.arm
        for frame, degrees in SWING.items():
            self.arm.rotation_euler.y = math.radians(degrees)
            self.arm.keyframe_insert("rotation_euler", frame=frame)
        flesh.select([self.block])
        bpy.ops.jounce.add()
        state = self.block.jounce
        state.kind, state.use_gravity, state.catch = "LOOSE", True, CATCH
        for frame, on in ((FRAMES.start, True), (LET_GO, False), (CAUGHT, True)):
            state.animated = on
            state.keyframe_insert("animated", frame=frame)
        bpy.context.scene.frame_set(FRAMES.start)
        bpy.ops.jounce.build()
        bpy.ops.jounce.preview()
        self.meshes = [self.arm, self.block]

    def take(self) -> list[Shape]:
        """The motion of the block as built."""
        return studio.record(self.meshes, FRAMES)

    def inflated(self) -> list[Shape]:
        """The motion with inflation in flight."""
        state = self.block.jounce
        for frame, inflation in INFLATED.items():
            state.inflation = inflation
            state.keyframe_insert("inflation", frame=frame)
        return studio.record(self.meshes, FRAMES)


def _arm() -> bpy.types.Object:
    form = bmesh.new()
    along = Matrix.Translation((0.5 * LENGTH, 0.0, 0.0)) @ Matrix.Rotation(0.5 * math.pi, 4, "Y")
    bmesh.ops.create_cone(
        form, segments=24, radius1=RADIUS, radius2=1.4 * RADIUS, depth=LENGTH, cap_ends=True, matrix=along
    )
    dish = bmesh.ops.create_uvsphere(form, u_segments=32, v_segments=16, radius=DISH)["verts"]
    for vertex in dish:
        # The upper half is merged into the lower one.
        vertex.co.z = 0.5 * (vertex.co.z if vertex.co.z < 0.0 else -0.55 * vertex.co.z) + 0.5 * DISH
        vertex.co.x += LENGTH
    mesh = bpy.data.meshes.new("Arm")
    form.to_mesh(mesh)
    form.free()
    mesh.shade_smooth()
    creature.colour(mesh, np.tile(COLOUR, (len(mesh.vertices), 1)))
    mesh.materials.append(creature.coloured_material("Arm", 0.6))
    arm = bpy.data.objects.new("Arm", mesh)
    bpy.context.scene.collection.objects.link(arm)
    return arm
