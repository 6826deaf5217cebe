"""A soft stem and fat leaves, also moved by its upper bone: independent bodies, and sewn together."""

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

FRAMES = range(1, 25)
# Height of the stem, in m; its upper bone begins half way up.
HEIGHT, RADIUS = 1.2, 0.1
# Height of each leaf, in m, and its angle around the stem, in degrees.
PLACES = [(1.05, 0.0), (0.92, 140.0), (0.78, 250.0), (0.66, 20.0), (0.98, 205.0)]
# Semi-axes of a leaf, and its distance from the stem, in m.
LEAF, GAP = (0.16, 0.09, 0.035), 0.012
# Frame and angle of the upper bone, in radians.
SWING = ((1, 0.0), (6, 0.75), (11, -0.65), (15, 0.0), (16, 0.0))
FREQUENCY = 2.2
GREEN, LIGHT = (0.36, 0.55, 0.34), (0.56, 0.74, 0.40)


class SewnLeaves:
    """The stem and leaves, sewn through the artist's settings."""

    def __init__(self) -> None:
        """Build them in an empty file, and add Jounce to each separately."""
        thrown_jelly.empty_shot(FRAMES)
        self.stem, rig = _stem()
        self.leaves = [_leaf(rig, *place) for place in PLACES]
        self.meshes = [self.stem, *self.leaves]
        for mesh in self.meshes:
            flesh.select([mesh])
            bpy.ops.jounce.add()
            mesh.jounce.modes, mesh.jounce.frequency = 24, FREQUENCY
            mesh.jounce.resolution = 40 if mesh == self.stem else 16
            bpy.ops.jounce.build()

    def apart(self) -> list[Shape]:
        """Their motion as independent bodies."""
        return self._shown(self.meshes)

    def sewn(self) -> list[Shape]:
        """Their motion as one body."""
        flesh.select(self.meshes)
        bpy.ops.jounce.sew(distance=3.0, most=30)
        return self._shown([self.stem])

    def _shown(self, hosts: list[bpy.types.Object]) -> list[Shape]:
        flesh.select(hosts)
        bpy.ops.jounce.preview()
        bpy.ops.jounce.fill_cache()
        shapes = studio.record(self.meshes, FRAMES)
        bpy.ops.jounce.preview()
        return shapes


def _stem() -> tuple[bpy.types.Object, bpy.types.Object]:
    form = bmesh.new()
    bmesh.ops.create_uvsphere(form, u_segments=24, v_segments=40, radius=1.0)
    for vertex in form.verts:
        height = 0.5 * HEIGHT * (1.0 + vertex.co.z)
        across = vertex.co.xy.length
        width = _radius(height) * min(1.0, 3.0 * across) / max(across, 1e-6)
        vertex.co = (width * vertex.co.x, width * vertex.co.y, height)
    stem = _object("Stem", form, GREEN)
    rig = _rig()
    stem.parent = rig
    upper = np.clip(2.0 * np.array([vertex.co.z for vertex in stem.data.vertices]) / HEIGHT - 0.5, 0.0, 1.0)
    for name, weights in (("Lower", 1.0 - upper), ("Upper", upper)):
        group = stem.vertex_groups.new(name=name)
        for vertex, weight in enumerate(weights.tolist()):
            group.add([vertex], weight, "REPLACE")
    stem.modifiers.new("Armature", "ARMATURE").object = rig
    return stem, rig


def _radius(height: float) -> float:
    return RADIUS * (1.2 - 0.4 * height / HEIGHT)


def _rig() -> bpy.types.Object:
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(rig)
    flesh.select([rig])
    bpy.ops.object.mode_set(mode="EDIT")
    below = None
    for name, start in (("Lower", 0.0), ("Upper", 0.5 * HEIGHT)):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = (0.0, 0.0, start), (0.0, 0.0, start + 0.5 * HEIGHT), below
        below = bone
    bpy.ops.object.mode_set(mode="OBJECT")
    pose = rig.pose.bones["Upper"]
    pose.rotation_mode = "XYZ"
    for frame, angle in SWING:
        pose.rotation_euler.z = angle
        pose.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(FRAMES.start)
    return rig


def _leaf(rig: bpy.types.Object, height: float, degrees: float) -> bpy.types.Object:
    form = bmesh.new()
    bmesh.ops.create_uvsphere(form, u_segments=20, v_segments=14, radius=1.0)
    away = Matrix.Translation((_radius(height) + GAP + LEAF[0], 0.0, height))
    turned = Matrix.Rotation(math.radians(degrees), 4, "Z") @ away
    form.transform(turned @ Matrix.Rotation(math.radians(-20.0), 4, "Y") @ Matrix.Diagonal((*LEAF, 1.0)))
    leaf = _object("Leaf", form, LIGHT)
    leaf.parent = rig
    leaf.vertex_groups.new(name="Upper").add(range(len(leaf.data.vertices)), 1.0, "REPLACE")
    leaf.modifiers.new("Armature", "ARMATURE").object = rig
    return leaf


def _object(name: str, form: bmesh.types.BMesh, colour: tuple[float, float, float]) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    form.to_mesh(mesh)
    form.free()
    mesh.shade_smooth()
    creature.colour(mesh, np.tile(colour, (len(mesh.vertices), 1)))
    mesh.materials.append(creature.coloured_material(name, 0.5))
    made = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(made)
    return made
