"""Bake All Actions in the window: Esc after an action is finished, undo, and a change of the action."""

import bpy
import numpy as np
import scenes

BAKE = "JOUNCE_OT_bake_actions"


def actor(window, last=40):
    """A built column with two actions of the rig, the second active. last: last frame."""
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    data = rig.animation_data
    data.action.name, data.action.use_fake_user = "First", True
    first = data.action
    second = first.copy()
    second.name, second.use_fake_user = "Second", True
    rig.pose.bones["Upper"].rotation_mode = "XYZ"
    data.action = second
    if hasattr(data, "action_slot"):
        data.action_slot = second.slots[0]
    rig.pose.bones["Upper"].rotation_euler = (-0.8, 0.0, 0.0)
    rig.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=5)
    rig.pose.bones["Upper"].rotation_euler = (0.0, 0.0, 0.0)
    rig.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=last)
    scenes.activate(obj)
    window.look_at(obj)
    scenes.activate(obj)
    bpy.ops.ed.undo_push(message="built")
    return obj, rig, first, second


def play(rig, action):
    """Chooses an action."""
    rig.animation_data.action = action
    if hasattr(rig.animation_data, "action_slot"):
        rig.animation_data.action_slot = action.slots[0]


def test_escape_keeps_what_is_finished_and_undo_takes_it_back(window):
    obj, rig, first, _ = actor(window, last=4000)
    window.invoke("jounce.bake_actions")
    yield lambda: any(kept.bake_played == first for kept in obj.jounce.kept_bakes)
    assert window.is_running(BAKE)
    window.screenshot("bake-actions")
    window.press("ESC")
    yield lambda: not window.is_running(BAKE)
    assert not obj.jounce.bake_target and len(obj.jounce.kept_bakes) == 1
    play(rig, first)
    yield lambda: obj.jounce.bake_played == first
    bpy.context.scene.frame_set(6)
    assert any(key.value > 0.1 for key in obj.data.shape_keys.key_blocks[1:])
    with window.context():
        bpy.ops.ed.undo()
    yield 0.3
    obj = bpy.data.objects["Column"]
    assert len(obj.jounce.kept_bakes) == 0 and obj.data.shape_keys is None


def test_a_change_of_the_action_shows_its_bake(window):
    obj, rig, first, second = actor(window)
    window.invoke("jounce.bake_actions")
    yield lambda: not window.is_running(BAKE)
    assert obj.jounce.bake_played == second and rig.animation_data.action == second
    shapes = {}
    for action in (first, second, first):
        play(rig, action)
        yield lambda wanted=action: obj.jounce.bake_played == wanted
        shape = scenes.evaluated_frames(obj, range(1, 13))
        assert action.name not in shapes or np.array_equal(shape, shapes[action.name])
        shapes[action.name] = shape
