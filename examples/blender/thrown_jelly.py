"""A block of jelly thrown at the ground, with the stiffness of Add Jounce and softer."""

from __future__ import annotations

import math

import bmesh
import bpy
import creature
import flesh
import numpy as np
import studio
from subjects import Shape

FRAMES = range(1, 49)
# Half an edge of the block, initial height in m, and tilt.
HALF, HEIGHT, TILT = 0.15, 0.75, (math.radians(25.0), math.radians(35.0), 0.0)
ROUNDED = 0.04
COLOUR = (0.80, 0.36, 0.42)


class ThrownJelly:
    """The block, thrown through the artist's settings."""

    def __init__(self) -> None:
        """Build in an empty file, and make a free body, colliding with the ground at z = 0."""
        empty_shot(FRAMES)
        self.block = block((0.0, 0.0, HEIGHT), TILT)
        flesh.select([self.block])
        bpy.ops.jounce.setup()
        self.block.jounce.velocity, self.block.jounce.spin = (1.0, 0.0, 0.0), (0.0, 200.0, 0.0)
        bpy.ops.jounce.ground()
        [ground] = self.block.jounce.collision_collection.objects
        ground.location.z = 0.0
        bpy.context.view_layer.update()

    def take(self, share: float) -> list[Shape]:
        """The motion with a share of the built frequency."""
        state = self.block.jounce
        firm = state.frequency
        state.frequency = share * firm
        shapes = studio.record([self.block], FRAMES)
        state.frequency = firm
        return shapes


def empty_shot(frames: range) -> None:
    """An empty file whose scene has these frames and stands at the first."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = frames.start, frames.stop - 1
    scene.frame_set(frames.start)


def from_beside(shape: Shape) -> Shape:
    """A shape as seen by a camera following the middle."""
    along = np.array([1.0, 1.0, 0.0], np.float32) * shape[0].mean(axis=0)
    return [points - along for points in shape]


def block(
    location: tuple[float, float, float],
    turn: tuple[float, float, float] = (0.0, 0.0, 0.0),
    colour: tuple[float, float, float] = COLOUR,
) -> bpy.types.Object:
    """A rounded block of jelly."""
    form = bmesh.new()
    bmesh.ops.create_cube(form, size=2.0 * HALF)
    bmesh.ops.bevel(form, geom=form.edges, offset=ROUNDED, segments=4, profile=0.5, affect="EDGES")
    bmesh.ops.subdivide_edges(form, edges=form.edges, cuts=2, use_grid_fill=True)
    mesh = bpy.data.meshes.new("Jelly")
    form.to_mesh(mesh)
    form.free()
    mesh.shade_smooth()
    creature.colour(mesh, np.tile(colour, (len(mesh.vertices), 1)))
    mesh.materials.append(creature.coloured_material("Jelly", 0.4))
    made = bpy.data.objects.new("Jelly", mesh)
    made.location, made.rotation_euler = location, turn
    bpy.context.scene.collection.objects.link(made)
    bpy.context.view_layer.update()
    return made
