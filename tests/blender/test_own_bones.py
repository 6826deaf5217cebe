"""The bake to the rig's own bones: they play their possible part of the flesh, on a copy with its
own action.
"""

import math

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from test_refusals import assert_refused

FRAMES = range(1, 25)
BONES = ("Lower", "Tail 1", "Tail 2", "Tail 3")


@pytest.fixture
def character():
    """A built column on a root and a tail of three bones, with only the root animated."""
    obj = scenes.column(height=4.0, rings=24)
    rig = scenes.armature([(name, float(at), at + 1.0) for at, name in enumerate(BONES)])
    obj.parent = rig
    heights = np.array([vertex.co.z for vertex in obj.data.vertices])
    for at, name in enumerate(BONES):
        group = obj.vertex_groups.new(name=name)
        for vertex, weight in enumerate(np.clip(1.0 - np.abs(heights - 0.5 - at), 0.0, 1.0)):
            if weight > 0.0:
                group.add([vertex], float(weight), "REPLACE")
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    pose = rig.pose.bones["Lower"]
    pose.rotation_mode = "XYZ"
    for frame in range(1, 25, 3):
        pose.rotation_euler = (0.5 * math.sin(0.7 * frame), 0.0, 0.0)
        pose.keyframe_insert("rotation_euler", frame=frame)
    tail = rig.data.collections.new("Tail")
    for name in BONES[1:]:
        tail.assign(rig.data.bones[name])
    rig.data.collections.new("Root").assign(rig.data.bones["Lower"])
    scenes.settle_scene(FRAMES[-1])
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    # The tail is left to the flesh, which is complementary to all counted bones.
    obj.jounce.bones_counting, obj.jounce.bones_collection = "PICKED", "Root"
    obj.jounce.frequency = 3.0
    bpy.ops.jounce.build()
    obj.jounce.use_stretch = False
    return obj, rig


def keys(rig):
    """The animator's keys, and their action."""
    curves = snapshot.fcurves(rig.animation_data.action)
    values = [(c.data_path, c.array_index, [tuple(key.co) for key in c.keyframe_points]) for c in curves]
    return rig.animation_data.action, values


def test_bones_of_a_tail_play_most_of_the_flesh(character):
    obj, rig = character
    posed = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    flesh = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.free_bake()
    rig_before = keys(rig)
    bpy.ops.jounce.bake(target="OWN_BONES")
    copy = obj.jounce.bake_copy
    played = scenes.evaluated_frames(copy, FRAMES)
    assert (
        np.linalg.norm(played - flesh) < 0.7 * np.linalg.norm(posed - flesh)
        and np.abs(posed - flesh).max() > 0.1
    )
    rest = np.array([vertex.co for vertex in obj.data.vertices])
    error = np.linalg.norm(played - flesh, axis=2).max() / np.linalg.norm(np.ptp(rest, axis=0))
    assert obj.jounce.bake_error == pytest.approx(error, rel=0.05)
    assert obj.jounce.bake_parts.startswith("4 bones, ")
    assert keys(rig) == rig_before
    armature = copy.parent
    assert sorted(bone.name for bone in armature.data.bones) == sorted(BONES)
    for bone in armature.pose.bones[1:]:
        assert np.allclose(bone.location, 0.0, atol=1e-5) and np.allclose(bone.scale, 1.0, atol=1e-5)


def test_bones_outside_of_the_collection_move_as_the_animator_has_them(character):
    obj, rig = character
    obj.jounce.own_collection = "Tail"
    bpy.ops.jounce.bake(target="OWN_BONES")
    armature = obj.jounce.bake_copy.parent
    for frame in FRAMES[::5]:
        bpy.context.scene.frame_set(frame)
        one, other = (np.array(owner.pose.bones["Lower"].matrix) for owner in (rig, armature))
        assert np.allclose(one, other, atol=1e-5)


def test_bones_that_may_move_come_nearer(character):
    obj, _ = character
    bpy.ops.jounce.bake(target="OWN_BONES")
    turned = float(obj.jounce.bake_parts.split(", ")[1].split("%")[0])
    obj.jounce.own_turn_only = False
    bpy.ops.jounce.bake(target="OWN_BONES")
    assert float(obj.jounce.bake_parts.split(", ")[1].split("%")[0]) < turned


def test_freeing_takes_all_of_it_away(character):
    obj, _ = character
    before = snapshot.file_state()
    bpy.ops.jounce.bake(target="OWN_BONES")
    assert obj.jounce.bake_copy is not None
    bpy.ops.jounce.free_bake()
    assert snapshot.file_state() == before


def test_a_collection_without_bones_of_the_body_is_refused(character):
    obj, _ = character
    obj.jounce.own_collection = "Ears"
    assert_refused(bpy.ops.jounce.bake, "Ears", target="OWN_BONES")
