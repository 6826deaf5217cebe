"""The made biped in a scene: its armature, its motion, and meshes of its parts."""

import sys
from pathlib import Path

import bpy
import numpy as np
import scenes

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import bipeds


def rig():
    """The armature of the biped, which turns and bends, and lifts a leg."""
    data = bpy.data.armatures.new("Rig")
    obj = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(obj)
    scenes.activate(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (head, parent) in bipeds.BONES.items():
        bone = data.edit_bones.new(name)
        below = [other for other, above in bipeds.BONES.values() if above == name]
        bone.head, bone.tail = head, below[0] if below else np.add(head, (0.0, 0.0, 0.15))
        bone.parent = data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="OBJECT")
    return obj


def swung(obj, wild=1.0):
    """Keys of the hips and a leg."""
    for name, axis, angles in (("hips", 1, (0.0, 0.4, -0.4, 0.0)), ("thigh.L", 0, (0.0, -1.3, 0.3, 0.0))):
        pose = obj.pose.bones[name]
        pose.rotation_mode = "XYZ"
        for frame, angle in zip((1, 6, 11, 16), angles, strict=True):
            pose.rotation_euler[axis] = wild * angle
            pose.keyframe_insert("rotation_euler", frame=frame)


def dress(name, shapes, armature):
    """A mesh of loose parts with weights."""
    starts = np.cumsum([0, *(len(shape.points) for shape in shapes)])
    points = np.concatenate([shape.points for shape in shapes])
    triangles = [shape.triangles + start for shape, start in zip(shapes, starts, strict=False)]
    obj = scenes.mesh_object(name, points.tolist(), np.concatenate(triangles).tolist())
    for bone in bipeds.NAMES:
        group = obj.vertex_groups.new(name=bone)
        for shape, start in zip(shapes, starts, strict=False):
            if bone in shape.bones:
                group.add(range(start, start + len(shape.points)), shape.bones[bone], "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = armature
    obj.parent = armature
    return obj
