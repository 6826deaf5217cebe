"""How the operators run: warnings, stopping half-way, one body after the other."""

import bpy
import pytest
import scenes
import snapshot


def test_builds_and_bakes_all_selected_bodies():
    first, _ = scenes.character()
    second = scenes.column("Second")
    second.location.x = 3.0
    second.keyframe_insert("location", frame=1)
    second.location.x = 4.0
    second.keyframe_insert("location", frame=5)
    scenes.settle_scene()
    for obj in (first, second):
        scenes.activate(obj)
        bpy.ops.jounce.add()
        scenes.coarse(obj)
    scenes.activate(first, second)
    bpy.ops.jounce.build()
    bpy.ops.jounce.bake()
    assert first.jounce.bake_keys > 0 and second.jounce.bake_keys > 0


def test_build_says_what_it_made():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    assert "tets" in obj.jounce.built_summary and "2 bones" in obj.jounce.built_summary


def test_a_body_that_changed_is_built_again(module):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    digest = obj.jounce.built_digest
    obj.jounce.modes = 4
    bpy.ops.jounce.bake()
    assert obj.jounce.built_digest != digest
    assert module("core.bodies").CACHE.get(obj.jounce.built_digest).model.mode_count <= 4


def test_motion_settings_need_no_new_build():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    digest = obj.jounce.built_digest
    obj.jounce.frequency, obj.jounce.damping, obj.jounce.substeps = 5.0, 0.5, 2
    bpy.ops.jounce.bake()
    assert obj.jounce.built_digest == digest


@pytest.mark.parametrize("steps", [1, 5, 14, 25])
def test_a_stopped_bake_changes_nothing(module, steps):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    bpy.context.scene.frame_set(4)
    before = (snapshot.snapshot(obj), snapshot.file_state())
    settings = obj.jounce.bake_settings("MODAL_KEYS", 1, 12)
    task = module("ops.bake").bake_body(obj, bpy.context, settings, print)
    for _ in range(steps):
        next(task)
    task.close()
    assert snapshot.differences(before[0], snapshot.snapshot(obj)) == []
    assert snapshot.differences(before[1], snapshot.file_state()) == []


def test_a_stopped_build_keeps_the_last_one(module):
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    bound, digest = tuple(obj.jounce.bind_matrix), obj.jounce.built_digest
    rig.location.x = 5.0
    bpy.context.view_layer.update()
    task = module("ops.build").build_body(obj, bpy.context, print)
    next(task)
    assert tuple(obj.jounce.bind_matrix) != bound
    task.close()
    assert (tuple(obj.jounce.bind_matrix), obj.jounce.built_digest) == (bound, digest)


def test_a_bake_that_fails_while_writing_leaves_no_part(module, monkeypatch):
    obj, _ = scenes.character()
    before = snapshot.snapshot(obj)
    scenes.add_and_build(obj)
    monkeypatch.setattr(module("bridge.animation"), "write_fcurve", lambda *_: 1 / 0)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        bpy.ops.jounce.bake()
    monkeypatch.undo()
    bpy.ops.jounce.remove()
    assert snapshot.differences(before, snapshot.snapshot(obj)) == []


def test_warnings_are_reported_and_the_bake_goes_on(capfd):
    obj, _ = scenes.character()
    obj.modifiers["Armature"].use_deform_preserve_volume = True
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake()
    assert obj.jounce.bake_keys > 0
    assert "preserves volume" in capfd.readouterr().out


def test_the_armature_is_shown_as_it_was(module):
    obj, rig = scenes.character()
    for position in ("REST", "POSE"):
        rig.data.pose_position = position
        scenes.add_and_build(obj)
        assert rig.data.pose_position == position
