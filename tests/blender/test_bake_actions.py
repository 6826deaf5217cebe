"""Bake All Actions: a separate bake for each action; the bake of the active action shows."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot

RANGES = {"Bow": range(1, 13), "Lean": range(3, 19)}
TARGETS = {"MODAL_KEYS": "DRAFT", "FRAME_KEYS": "FINAL", "SKINNING_NODES": "DRAFT"}


def act(rig, name, angle):
    """A new action of the upper bone, active afterwards."""
    data = rig.animation_data_create()
    data.action = None
    bone = rig.pose.bones["Upper"]
    bone.rotation_mode = "XYZ"
    first, last = RANGES[name][0], RANGES[name][-1]
    for frame, part in ((first, 0.0), (first + 4, 1.0), (first + 7, -0.3), (last, -0.3)):
        bone.rotation_euler = (angle * part, 0.2 * angle * part, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    data.action.name = name
    data.action.use_fake_user = True
    return data.action


def play(rig, action):
    """Chooses an action as an artist does in the Action Editor."""
    rig.animation_data.action = action
    if action is not None and hasattr(rig.animation_data, "action_slot"):
        rig.animation_data.action_slot = action.slots[0]
    bpy.context.view_layer.update()


@pytest.fixture
def actor():
    """A column with flesh and two actions, the second one active; a camera has one too."""
    obj, rig = scenes.character()
    swing = rig.animation_data.action
    actions = [act(rig, "Bow", 0.9), act(rig, "Lean", -0.7)]
    bpy.data.actions.remove(swing)
    camera = bpy.data.objects.new("Camera", None)
    camera.keyframe_insert("location", frame=1)
    camera.keyframe_insert("location", frame=30)
    scenes.settle_scene(18)
    scenes.add_and_build(obj)
    return obj, rig, actions


def shown(obj, rig, actions):
    """The evaluated shapes (f, p, 3) of each action over its range."""
    found = {}
    for action in actions:
        play(rig, action)
        found[action.name] = scenes.evaluated_frames(obj, RANGES[action.name])
    return found


def baked_alone(obj, rig, actions):
    """The shapes of each action after an ordinary bake of it alone, freed again."""
    found = {}
    for action in actions:
        play(rig, action)
        frames = RANGES[action.name]
        bpy.ops.jounce.bake(frame_start=frames[0], frame_end=frames[-1])
        found |= shown(obj, rig, [action])
        bpy.ops.jounce.free_bake()
    return found


@pytest.mark.parametrize(("target", "quality"), TARGETS.items())
def test_each_action_shows_a_bake_of_its_own(actor, target, quality, tmp_path):
    obj, rig, actions = actor
    obj.jounce.target, obj.jounce.quality, obj.jounce.cache_folder = target, quality, str(tmp_path)
    posed, alone = shown(obj, rig, actions), baked_alone(obj, rig, actions)
    assert all(np.abs(alone[name] - posed[name]).max() > 0.01 for name in posed)
    before, frame = (snapshot.snapshot(obj), snapshot.file_state()), bpy.context.scene.frame_current
    bpy.context.scene.frame_set(4, subframe=0.5)
    assert bpy.ops.jounce.bake_actions() == {"FINISHED"}
    assert rig.animation_data.action == actions[1] and bpy.context.scene.frame_current_final == 4.5
    for _ in range(2):
        for name, shapes in shown(obj, rig, actions).items():
            assert np.abs(shapes - alone[name]).max() < 1e-6, name
    assert tuple(obj.jounce.bake_range) == (3, 18)
    play(rig, actions[0])
    assert tuple(obj.jounce.bake_range) == (1, 12)
    play(rig, actions[1])
    bpy.ops.jounce.free_bake()
    assert len(obj.jounce.kept_bakes) == 0 and not obj.jounce.bake_parts
    bpy.context.scene.frame_set(frame)
    assert snapshot.differences(before, (snapshot.snapshot(obj), snapshot.file_state())) == []


def test_an_action_without_a_bake_shows_the_pose(actor):
    obj, rig, actions = actor
    bpy.ops.jounce.bake_actions()
    new = actions[0].copy()
    new.name = "New"
    RANGES["New"] = RANGES["Bow"]
    with_new = shown(obj, rig, [new])["New"]
    assert obj.jounce.bake_target == "" and len(obj.jounce.kept_bakes) == 2
    bpy.ops.jounce.free_bake()
    assert np.array_equal(with_new, shown(obj, rig, [new])["New"])


def test_an_ordinary_bake_replaces_only_that_of_its_action(actor):
    obj, rig, actions = actor
    bpy.ops.jounce.bake_actions()
    first = shown(obj, rig, actions)
    obj.jounce.softness = 2.0
    play(rig, actions[0])
    bpy.ops.jounce.bake(frame_start=1, frame_end=12)
    now = shown(obj, rig, actions)
    assert len(obj.jounce.kept_bakes) == 1
    assert np.abs(now["Bow"] - first["Bow"]).max() > 1e-3
    assert np.array_equal(now["Lean"], first["Lean"])


def test_a_second_run_replaces_all_and_leaves_nothing_behind(actor):
    obj, rig, actions = actor
    bpy.ops.jounce.bake_actions()
    first, state = shown(obj, rig, actions), snapshot.file_state()
    keys = len(obj.data.shape_keys.key_blocks)
    bpy.ops.jounce.bake_actions()
    assert len(obj.jounce.kept_bakes) == 1 and len(obj.data.shape_keys.key_blocks) == keys
    again = shown(obj, rig, actions)
    assert all(np.abs(again[name] - first[name]).max() < 1e-6 for name in again)
    assert {name: len(found) for name, found in snapshot.file_state().items()} == {
        name: len(found) for name, found in state.items()
    }


def test_all_is_freed_after_a_bake_of_another_kind(actor):
    obj, _, _ = actor
    before = snapshot.snapshot(obj), snapshot.file_state()
    bpy.ops.jounce.bake_actions()
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    bpy.ops.jounce.free_bake()
    assert snapshot.differences(before, (snapshot.snapshot(obj), snapshot.file_state())) == []


def test_all_selected_characters_play_the_actions_of_their_bones(actor):
    obj, rig, actions = actor
    other, other_rig = scenes.character()
    other_rig.animation_data_clear()
    scenes.add_and_build(other)
    bpy.ops.jounce.free_bake()
    scenes.activate(obj, other)
    bpy.ops.jounce.bake_actions()
    for mesh in (obj, other):
        assert mesh.jounce.kept_bakes or mesh.jounce.bake_target
    assert other_rig.animation_data is None
    other_rig.animation_data_create()
    moved = shown(other, other_rig, actions)
    scenes.activate(other)
    bpy.ops.jounce.free_bake()
    posed = shown(other, other_rig, actions)
    assert all(np.abs(moved[name] - posed[name]).max() > 0.01 for name in posed)


def test_an_unkeyed_pose_stays_and_no_action_leaves_its_own_to_the_next(actor):
    obj, rig, actions = actor
    alone = baked_alone(obj, rig, actions)
    play(rig, actions[0])
    lower, upper = rig.pose.bones["Lower"], rig.pose.bones["Upper"]
    lower["theirs"] = 0.0
    lower.rotation_mode = "XYZ"
    for frame in (1, 12):
        lower.rotation_euler.y, lower["theirs"] = 0.5, 0.25
        lower.keyframe_insert("rotation_euler", frame=frame)
        lower.keyframe_insert('["theirs"]', frame=frame)
    play(rig, None)
    lower.rotation_euler, lower["theirs"], upper.rotation_euler = (0.0, 0.0, 0.0), 0.0, (0.1, 0.2, 0.3)
    scenes.settle_scene(18)
    bpy.ops.jounce.bake_actions()
    assert np.allclose(upper.rotation_euler, (0.1, 0.2, 0.3)) and not any(lower.rotation_euler)
    assert lower["theirs"] == 0.0 and rig.animation_data.action is None
    play(rig, actions[1])
    assert np.abs(scenes.evaluated_frames(obj, RANGES["Lean"]) - alone["Lean"]).max() < 1e-6


def test_strips_are_baked_as_a_whole_beside_the_actions(actor):
    obj, rig, actions = actor
    play(rig, None)
    track = rig.animation_data.nla_tracks.new()
    strip = track.strips.new("Bow", 4, actions[0])
    if hasattr(strip, "action_slot"):
        strip.action_slot = actions[0].slots[0]
    scenes.settle_scene(18)
    posed = scenes.evaluated_frames(obj, range(1, 19))
    assert bpy.ops.jounce.bake_actions() == {"FINISHED"}
    whole = scenes.evaluated_frames(obj, range(1, 19))
    assert tuple(obj.jounce.bake_range) == (1, 18) and len(obj.jounce.kept_bakes) == 2
    bpy.ops.jounce.free_bake()
    bpy.ops.jounce.bake()
    alone = scenes.evaluated_frames(obj, range(1, 19))
    assert np.abs(whole - posed).max() > 0.01 and np.abs(whole - alone).max() < 1e-6
    bpy.ops.jounce.free_bake()
    bpy.ops.jounce.bake_actions(strips=False)
    assert np.array_equal(scenes.evaluated_frames(obj, range(1, 19)), posed)


def test_stopped_it_keeps_what_is_finished_and_nothing_else(actor, module):
    obj, rig, actions = actor
    operator = module("ops.bake_actions").JOUNCE_OT_bake_actions

    class Called:
        strips, warn = True, print
        turns, baked = operator.turns, operator.baked

    called = Called()
    task = operator.task(called, bpy.context)
    for step in task:
        if step.stage.startswith("Lean") and step.fraction > 0.6:
            break
    task.close()
    told = []
    called.report, called.bl_label = lambda *said: told.append(said), operator.bl_label
    assert operator.stopped(called) == {"FINISHED"}
    assert told == [({"INFO"}, "Bake All Actions was stopped; finished and kept: Bow.")]
    assert called.done == ["Bow"] and rig.animation_data.action == actions[1]
    assert obj.jounce.bake_target == "" and len(obj.jounce.kept_bakes) == 1
    play(rig, actions[0])
    assert obj.jounce.bake_played == actions[0]
    assert all(not block.mute for block in obj.data.shape_keys.key_blocks)


def test_stopped_before_the_first_is_finished_it_changes_nothing(actor, module):
    obj, rig, _ = actor
    bpy.ops.jounce.bake(frame_start=3, frame_end=18)
    before = scenes.evaluated_frames(obj, RANGES["Lean"]), len(obj.data.shape_keys.key_blocks)
    operator = module("ops.bake_actions").JOUNCE_OT_bake_actions

    class Called:
        strips, warn = True, print
        turns, baked = operator.turns, operator.baked

    task = operator.task(Called(), bpy.context)
    next(task)
    task.close()
    assert len(obj.jounce.kept_bakes) == 0
    assert np.array_equal(scenes.evaluated_frames(obj, RANGES["Lean"]), before[0])
    assert len(obj.data.shape_keys.key_blocks) == before[1]


def test_a_saved_file_shows_its_bakes_again(actor, tmp_path):
    obj, rig, actions = actor
    bpy.ops.jounce.bake_actions()
    before = shown(obj, rig, actions)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "actions.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "actions.blend"))
    obj, rig = bpy.data.objects["Column"], bpy.data.objects["Rig"]
    after = shown(obj, rig, [bpy.data.actions[name] for name in before])
    assert all(np.array_equal(after[name], before[name]) for name in before)


def test_undo_takes_all_bakes_back(actor):
    obj, rig, _ = actor
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.jounce.bake_actions()
    bpy.ops.ed.undo_push(message="baked")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Column"]
    assert not obj.jounce.bake_target and len(obj.jounce.kept_bakes) == 0 and obj.data.shape_keys is None
    bpy.ops.ed.redo()
    assert len(bpy.data.objects["Column"].jounce.kept_bakes) == 1


@pytest.mark.parametrize("target", ["MESH_CACHE", "HELPER_BONES", "OWN_BONES"])
def test_a_target_without_a_place_beside_others_is_refused(actor, target):
    obj, _, _ = actor
    obj.jounce.target = target
    before = snapshot.snapshot(obj), snapshot.file_state()
    with pytest.raises(RuntimeError, match="bakes of several actions are shape keys or skinning nodes"):
        bpy.ops.jounce.bake_actions()
    assert snapshot.differences(before, (snapshot.snapshot(obj), snapshot.file_state())) == []


def test_a_file_without_an_action_for_the_rig_is_refused(actor):
    _, rig, actions = actor
    rig.animation_data_clear()
    bpy.data.batch_remove(actions)
    with pytest.raises(RuntimeError, match="no action that moves Column"):
        bpy.ops.jounce.bake_actions()
