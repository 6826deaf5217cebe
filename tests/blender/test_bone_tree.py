"""The tree of deforming bones in rigs that hang them on control bones."""

import bpy
import numpy as np
import pytest
import scenes

# Name, height of head and tail, side, and parent of each bone. Controls are named C, deforming bones D.
BONES = (
    ("Root", 0.0, 0.3, 0.0, None),
    ("C hips", 0.9, 1.1, 0.0, "Root"),
    ("D hips", 0.9, 1.1, 0.0, "Root"),
    ("C chest", 1.1, 1.6, 0.0, "C hips"),
    ("D chest", 1.1, 1.6, 0.0, "D hips"),
    ("D leg L", 0.9, 0.0, 0.1, "C hips"),
    ("D leg R", 0.9, 0.0, -0.1, "C hips"),
    ("C shoulder", 1.5, 1.6, 0.1, "C chest"),
    ("D shoulder", 1.5, 1.6, 0.1, "C shoulder"),
    ("D arm", 1.6, 1.2, 0.3, "C shoulder"),
    ("C head", 1.6, 1.9, 0.0, "C chest"),
    ("D head", 1.6, 1.9, 0.0, None),
)
TREE = {
    "D hips": None,
    "D chest": "D hips",
    "D leg L": "D hips",
    "D leg R": "D hips",
    "D shoulder": "D chest",
    "D arm": "D shoulder",
    "D head": "D chest",
}


@pytest.fixture
def rigged():
    """A column on these bones; those of no parent follow a control: mesh and armature."""
    rig = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(rig)
    scenes.activate(rig)
    bpy.ops.object.mode_set(mode="EDIT")
    edited = rig.data.edit_bones
    for name, low, high, side, parent in BONES:
        bone = edited.new(name)
        bone.head, bone.tail, bone.use_deform = (side, 0.0, low), (side, 0.0, high), name.startswith("D")
        bone.parent = None if parent is None else edited[parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    follow(rig, "D head", "C head")
    # A control above a bone may hang on what that bone moves.
    follow(rig, "D hips", "C chest")
    obj = scenes.column()
    obj.parent = rig
    heights = np.array([vertex.co.z for vertex in obj.data.vertices])
    for number, name in enumerate(TREE):
        group = obj.vertex_groups.new(name=name)
        group.add(np.flatnonzero((heights * 3.4).astype(int) == number).tolist(), 1.0, "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    scenes.settle_scene()
    scenes.add_and_build(obj)
    obj.jounce.bone_core = 0.5
    return obj, rig


def follow(rig, bone, control):
    constraint = rig.pose.bones[bone].constraints.new("COPY_TRANSFORMS")
    constraint.target, constraint.subtarget = rig, control


def tree(module, obj):
    """Name of the bone above each bone of a body's core."""
    core = module("bridge.body.bodies").read(obj, bpy.context, print).surface.core
    above = (None if row < 0 else core.names[row] for row in core.parents)
    return dict(zip(core.names, above, strict=True))


def test_a_control_stands_for_the_deforming_bone_at_its_place(module, rigged):
    assert tree(module, rigged[0]) == TREE


def test_a_bone_without_a_parent_hangs_where_the_control_that_it_follows_does(module, rigged):
    obj, rig = rigged
    rig.pose.bones["D head"].constraints[0].mute = True
    assert tree(module, obj) == TREE | {"D head": None}
