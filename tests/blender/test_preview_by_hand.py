"""Movement by hand during a preview."""

import bpy
import numpy as np
import scenes
from previews import previewed, shape


def test_moving_by_hand_follows_in_real_time_and_settles(preview):
    obj, rig = previewed()
    posed = shape(obj, 12)
    known = preview.session(obj)
    rig.location.x = 0.5
    bpy.context.view_layer.update()
    assert known.interactive is not None
    assert known.status() == "Moved by hand"
    moved = []
    for _ in range(400):
        known._due = 0.0
        known.work(bpy.context, 0.0)
        bpy.context.view_layer.update()
        moved.append(np.abs(scenes.evaluated(obj) - posed - [0.5, 0.0, 0.0]).max())
        if known.interactive is None:
            break
    assert moved[0] > 1e-3
    assert known.interactive is None
    rig.location.x = 0.0
    bpy.context.view_layer.update()
    assert known.interactive is None
    bpy.context.scene.frame_set(12)
    assert np.array_equal(scenes.evaluated(obj), posed)


def test_moving_by_hand_bends_any_rig_as_it_is(preview, module):
    obj, rig = scenes.character()
    obj.modifiers["Armature"].use_deform_preserve_volume = True
    scenes.add_and_build(obj)
    bpy.ops.jounce.preview()
    shape(obj, 12)
    known = preview.session(obj)
    bone = rig.pose.bones["Upper"]
    bone.rotation_euler = (0.8, 0.0, 0.9)
    bpy.context.view_layer.update()
    assert known.interactive is not None
    kept = known.interactive.drive
    known._due = 0.0
    known.work(bpy.context, 0.0)
    moved = known.interactive.drive
    bone.rotation_euler = (0.5, 0.0, 1.2)
    bpy.context.view_layer.update()
    known._due = 0.0
    known.work(bpy.context, 0.0)
    again = known.interactive.drive
    bone.keyframe_insert("rotation_euler", frame=12)
    known.leave_stage()
    keyed = module("bridge.motions.scratch_scene").Stage(known.motions, bpy.context.scene)
    expected = keyed.drive(12)
    keyed.close()
    assert np.array_equal(again.offsets, expected.offsets) and again.agrees(expected)
    assert not np.array_equal(moved.offsets, kept.offsets)
    assert not np.array_equal(moved.offsets, again.offsets)
    bpy.context.scene.frame_set(11)
    while known.busy:
        known.work(bpy.context, 0.05)
    assert not [scene for scene in bpy.data.scenes if "Stage" in scene.name]
