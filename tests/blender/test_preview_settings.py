"""Animated settings and loops in the preview."""

import bpy
import numpy as np
import pytest
import scenes
from previews import FRAMES, assert_shown_as_baked, previewed, shape


def key(obj, name, values):
    """Keys a setting: values by frame."""
    for frame, value in values.items():
        setattr(obj.jounce, name, value)
        obj.jounce.keyframe_insert(name, frame=frame)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("frequency", {1: 8.0, 6: 8.0, 7: 2.0}),
        ("damping", {1: 0.0, 7: 2.0}),
        ("pose_rest", {1: 1.0, 9: 0.0}),
        ("gravity", {1: 0.0, 6: 1.0}),
        ("use_gravity", {1: False, 5: True}),
    ],
)
def test_animated_settings_act_in_any_order_and_come_to_rest(preview, name, values):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.use_gravity = True
    bpy.ops.jounce.preview()
    before = shape(obj, 12)
    key(obj, name, values)
    forward = scenes.evaluated_frames(obj, FRAMES)
    assert np.abs(forward[-1] - before).max() > 1e-4
    known = preview.session(obj)
    kept = list(known.cache.coefficients)
    for frame in (12, 3, 7, 1, 9):
        assert np.array_equal(shape(obj, frame), forward[frame - 1])
    assert all(now is old for now, old in zip(known.cache.coefficients, kept, strict=True))
    assert_shown_as_baked(obj)


def test_gravity_of_the_scene_acts_as_it_is_in_each_frame(preview):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.use_gravity = True
    bpy.ops.jounce.preview()
    scene = bpy.context.scene
    before = shape(obj, 12)
    for frame, pull in ((1, 0.0), (4, 0.0), (9, -40.0)):
        scene.gravity = (0.0, pull, pull)
        scene.keyframe_insert("gravity", frame=frame)
    forward = scenes.evaluated_frames(obj, FRAMES)
    assert np.abs(forward[-1] - before).max() > 1e-3
    known = preview.session(obj)
    kept = list(known.cache.coefficients)
    for frame in (12, 3, 7, 1, 9):
        assert np.array_equal(shape(obj, frame), forward[frame - 1])
    assert all(now is old for now, old in zip(known.cache.coefficients, kept, strict=True))
    preview.forget(obj)
    # All frames before this one are read from a separate scene.
    assert np.array_equal(shape(obj, 12), forward[-1])
    assert preview.session(obj).complete
    assert_shown_as_baked(obj)
    bpy.ops.jounce.preview()
    obj.jounce.use_gravity = False
    weightless = scenes.evaluated_frames(obj, FRAMES)
    assert np.abs(weightless[-1] - forward[-1]).max() > 1e-3
    assert preview.session(obj).filling.drives[0].feel is None


def test_a_key_on_gravity_is_noticed_in_all_later_frames(preview):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.use_gravity = True
    bpy.ops.jounce.preview()
    scene = bpy.context.scene
    for frame, pull in ((1, -9.81), (12, -9.81)):
        scene.gravity[2] = pull
        scene.keyframe_insert("gravity", index=2, frame=frame)
    forward = scenes.evaluated_frames(obj, FRAMES)
    scene.gravity[2] = 30.0
    scene.keyframe_insert("gravity", index=2, frame=7)
    bpy.context.view_layer.update()
    changed = scenes.evaluated_frames(obj, FRAMES)
    assert np.array_equal(changed[0], forward[0])
    assert np.abs(changed[7] - forward[7]).max() > 1e-3
    scene.animation_data_clear()
    scene.gravity[2] = -9.81
    bpy.context.view_layer.update()
    assert np.abs(scenes.evaluated_frames(obj, FRAMES) - forward).max() < 1e-6


def test_gravity_that_a_driver_moves_is_felt_where_frames_are_played(preview):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.use_gravity = True
    curve = bpy.context.scene.driver_add("gravity", 2)
    curve.driver.expression = "-4.0 * frame"
    bpy.ops.jounce.preview()
    scenes.evaluated_frames(obj, FRAMES)
    assert preview.session(obj).complete
    pulls = [drive.feel.gravity[2] for drive in preview.session(obj).filling.drives]
    assert np.allclose(np.divide(pulls, pulls[0]), FRAMES)
    assert "drivers or strips move" in preview.session(obj).waits
    assert_shown_as_baked(obj)


def test_what_is_not_read_in_every_frame_cannot_be_animated():
    obj, _ = previewed()
    for name in ("substeps", "resolution", "limit", "integrator", "start"):
        with pytest.raises(TypeError, match="not animatable"):
            obj.jounce.keyframe_insert(name, frame=1)


def walk_in_circles(obj, rig):
    """Makes the swing end in its first pose."""
    bone = rig.pose.bones["Upper"]
    bone.rotation_euler = (0.0, 0.0, 0.0)
    bone.keyframe_insert("rotation_euler", frame=12)


def test_a_loop_shows_the_motion_that_closes(preview):
    obj, rig = scenes.character()
    walk_in_circles(obj, rig)
    scenes.add_and_build(obj)
    # Without a core and a fit the flesh would meet the limit of stretch all the time.
    obj.jounce.use_stretch = False
    bpy.ops.jounce.preview()
    started = scenes.evaluated_frames(obj, FRAMES)
    obj.jounce.loop = True
    bpy.context.view_layer.update()
    looped = scenes.evaluated_frames(obj, FRAMES)
    size = 2.1
    assert np.abs(looped[0] - looped[-1]).max() < 1e-3 * size < np.abs(started[0] - started[-1]).max()
    for frame in (7, 2, 12):
        assert np.array_equal(shape(obj, frame), looped[frame - 1])
    assert preview.session(obj).complete
    rig.pose.bones["Upper"].rotation_euler = (0.4, 0.0, 0.0)
    rig.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=10)
    bpy.context.view_layer.update()
    assert np.abs(shape(obj, 2) - looped[1]).max() > 1e-4
    assert_shown_as_baked(obj)


def test_closing_a_loop_shows_how_far_it_is_and_is_not_waited_for(preview, module, monkeypatch):
    obj, rig = scenes.character()
    walk_in_circles(obj, rig)
    scenes.add_and_build(obj)
    obj.jounce.loop = True
    bpy.ops.jounce.preview()
    expected = shape(obj, 12)
    preview.forget(obj)
    steps = list(preview.filled(obj, bpy.context))
    assert [step.stage for step in steps[:12]] == ["Simulating"] * 12
    assert {step.stage for step in steps[12:]} == {"Closing the loop"}
    fractions = [step.fraction for step in steps]
    assert fractions == sorted(fractions) and fractions[-1] == pytest.approx(1.0)
    preview.forget(obj)
    known = preview.session(obj)
    known.get_ready(bpy.context)
    with preview.paused():
        bpy.context.scene.frame_set(12)
    monkeypatch.setattr(module("bridge.preview.session"), "PATIENCE_SECONDS", 600.0)
    monkeypatch.setattr(type(known.filling), "collect", lambda _self, wait=False: not wait or 1 / 0)
    known.settle_frame(12, bpy.context.evaluated_depsgraph_get(), patient=False)
    assert len(known.filling.drives) == 12 and known.filling.closing and known.cage() is None
    monkeypatch.undo()
    list(known.filling.caught_up())
    assert known.fill(0.0) and not known.filling.closing
    assert np.array_equal(scenes.evaluated(obj), expected)


def test_a_loop_is_kept_with_the_file(preview, tmp_path):
    obj, rig = scenes.character()
    walk_in_circles(obj, rig)
    scenes.add_and_build(obj)
    obj.jounce.loop = True
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    expected, stored = scenes.evaluated_frames(obj, FRAMES), preview.session(obj).cache.pack()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "loop.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "loop.blend"))
    obj = bpy.data.objects["Column"]
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), expected)
    assert preview.session(obj).cache.pack() == stored


def test_what_cannot_loop_is_said_and_shows_the_pose(preview):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    posed = scenes.evaluated_frames(obj, FRAMES)
    obj.jounce.loop = True
    bpy.ops.jounce.preview()
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), posed)
    assert "cannot loop" in preview.session(obj).status()
    assert not [scene for scene in bpy.data.scenes if "Stage" in scene.name]
    obj.jounce.loop = False
    bpy.context.view_layer.update()
    assert np.abs(scenes.evaluated_frames(obj, FRAMES) - posed).max() > 1e-3
