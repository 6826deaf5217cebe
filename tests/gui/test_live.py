"""The preview in a window: automatic filling, playback, motion by mouse, and rest."""

import importlib

import bpy
import extension
import numpy as np
import scenes

FRAMES = range(1, 41)


def preview():
    """The extension's module for previews."""
    return importlib.import_module(f"{extension.INSTALLED}.bridge.preview.previews")


def previewed(window, change=lambda _obj: None):
    """A swinging character with a full cache. change: earlier changes to the character."""
    obj, rig = scenes.character()
    scenes.settle_scene(end=FRAMES.stop - 1)
    change(obj)
    scenes.add_and_build(obj)
    window.invoke("jounce.preview")
    yield lambda: obj.jounce.preview
    known = preview().session(obj)
    yield lambda: known.complete and not known.busy
    return obj, rig, known


def at_rest(known):
    """Lets the window run for a while; nothing may be left to do, over and over."""
    yield lambda: not known.busy
    passes = known.filling
    yield 1.0
    assert known.filling is passes, "the cache is checked again and again"
    assert not bpy.app.timers.is_registered(preview().tick)


def shown_frames(obj):
    return scenes.evaluated_frames(obj, FRAMES)


def test_it_fills_by_itself_and_then_rests(window):
    obj, _, known = yield from previewed(window)
    assert known.status() == "Draft"
    assert [scene.name for scene in bpy.data.scenes if "Stage" in scene.name] == []
    yield from at_rest(known)


def shaped(obj):
    """Extends the rig beyond linear skinning: Preserve Volume and an animated shape key."""
    obj.modifiers["Armature"].use_deform_preserve_volume = True
    for name in ("Basis", "Wide"):
        obj.shape_key_add(name=name)
    wide = obj.data.shape_keys.key_blocks["Wide"]
    for point in wide.points:
        point.co.xy *= 1.3
    for frame, value in ((1, 0.0), (20, 1.0)):
        wide.value = value
        wide.keyframe_insert("value", frame=frame)


def test_a_rig_that_is_not_linear_fills_and_comes_to_rest(window):
    obj, _, known = yield from previewed(window, shaped)
    yield from at_rest(known)
    expected = shown_frames(obj)
    known.suspect()
    preview().ensure_timer()
    yield 0.5
    yield lambda: known.complete and not known.busy
    assert np.array_equal(shown_frames(obj), expected)


def test_a_file_that_is_opened_while_the_cache_is_filled(window):
    obj, _, known = yield from previewed(window, shaped)
    bpy.context.scene.frame_end = 5000
    known.suspect()
    preview().ensure_timer()
    yield lambda: known.is_staged
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    yield 0.3
    assert not bpy.data.meshes


def count_of(pixels, colour):
    """Number of pixels close to a colour, given from 0 to 1."""
    return int((np.abs(pixels - 255.0 * np.array(colour[:3])).max(axis=2) < 40.0).sum())


def test_the_timeline_shows_which_frames_are_cached(window):
    timeline = importlib.import_module(f"{extension.INSTALLED}.overlay.timeline")
    obj, _, known = yield from previewed(window)
    fresh, stale = (
        count_of(window.timeline_pixels(), c) for c in (timeline.FRESH_COLOUR, timeline.STALE_COLOUR)
    )
    assert fresh > 200 and stale < 20
    window.screenshot("timeline")
    bpy.context.scene.frame_end = 200
    known.suspect()
    assert count_of(window.timeline_pixels(), timeline.STALE_COLOUR) > 200
    window.screenshot("timeline-stale")
    window.invoke("jounce.preview")
    yield lambda: not obj.jounce.preview
    assert count_of(window.timeline_pixels(), timeline.FRESH_COLOUR) < 20


def test_local_view_and_a_second_window_with_another_scene_change_nothing(window):
    obj, _, known = yield from previewed(window)
    expected = shown_frames(obj)
    scenes.activate(obj)
    with window.context():
        bpy.ops.view3d.localview()
    assert np.array_equal(shown_frames(obj), expected)
    # A child window would share the scene of its parent.
    with window.context():
        bpy.ops.wm.window_new_main()
    yield 0.5
    first, second = bpy.context.window_manager.windows
    second.scene = bpy.data.scenes.new("Other")
    yield 0.5
    with bpy.context.temp_override(window=first):
        second.scene.frame_set(7)
        known.scene.frame_set(12)
        assert np.array_equal(scenes.evaluated(obj), expected[11])
    with bpy.context.temp_override(window=second):
        bpy.ops.wm.window_close()
    yield from at_rest(known)


def test_playing_shows_what_scrubbing_shows_and_changes_nothing(window):
    obj, _, known = yield from previewed(window)
    before = list(known.cache.coefficients)
    expected = shown_frames(obj)
    with window.context():
        bpy.ops.screen.animation_play()
    yield 1.5
    with window.context():
        bpy.ops.screen.animation_cancel(restore_frame=False)
    assert all(new is old for new, old in zip(known.cache.coefficients, before, strict=True))
    frame = bpy.context.scene.frame_current
    assert np.array_equal(scenes.evaluated(obj), expected[frame - 1])
    yield from at_rest(known)


def test_a_changed_setting_fills_again_and_shows_the_current_frame(window):
    obj, _, known = yield from previewed(window)
    bpy.context.scene.frame_set(12)
    before = scenes.evaluated(obj)
    obj.jounce.frequency = 2.0
    yield lambda: known.cache.origin["Frequency (Hz)"] == "2.0"
    yield lambda: known.complete and not known.busy
    after = scenes.evaluated(obj)
    assert np.abs(after - before).max() > 1e-3
    bpy.context.scene.frame_set(3)
    bpy.context.scene.frame_set(12)
    assert np.array_equal(scenes.evaluated(obj), after)
    yield from at_rest(known)


def sagging(obj):
    """Lets gravity act in a long shot."""
    obj.jounce.use_gravity = True
    bpy.context.scene.frame_end = 120


def test_a_changed_setting_shows_a_late_frame_before_the_cache_has_reached_it(window):
    obj, _, known = yield from previewed(window, sagging)
    bpy.context.scene.frame_set(100)
    yield from at_rest(known)
    # The body is read again, into a display of its own.
    before, seen, display, show = scenes.evaluated(obj), [], type(known.display), type(known.display).show

    def noted(shown, *moved):
        show(shown, *moved)
        seen.append((known.filling.checked, known.status(), shown.offsets.copy()))

    display.show, seconds = noted, preview().RESTING_SECONDS
    # The character is small and takes little time to fill.
    preview().RESTING_SECONDS = 4e-3
    try:
        obj.jounce.frequency = 2.0
        yield lambda: known.cache.origin["Frequency (Hz)"] == "2.0"
        yield lambda: known.complete and not known.busy
    finally:
        display.show, preview().RESTING_SECONDS = show, seconds
    (early, status, look), *_, (_, _, last) = seen
    assert early < 100 and status.endswith("Frame 100 is a first look")
    moved = np.abs(scenes.evaluated(obj) - before).max()
    assert moved > 1e-3 and np.abs(last - look).max() < 0.1 * moved
    yield from at_rest(known)


def test_dragging_the_armature_swings_the_flesh_and_escape_brings_the_cache_back(window):
    yield from dragged(window, lambda _obj: None)


def test_dragging_a_rig_that_is_not_linear_does_so_too(window):
    yield from dragged(window, shaped)


def dragged(window, change):
    """Drags the armature and escapes."""
    obj, rig, known = yield from previewed(window, change)
    bpy.context.scene.frame_set(30)
    before = scenes.evaluated(obj)
    window.look_at(rig)
    scenes.activate(rig)
    start = window.centre()
    window.move(*start)
    yield 0.1
    window.press("G", start)
    yield from window.drag(start, (200, 0), steps=4)
    yield lambda: known.interactive is not None
    yield 0.2
    moved = scenes.evaluated(obj) - before
    assert np.ptp(moved[:, 0]) > 1e-3, "the flesh did not lag behind"
    window.screenshot("live-drag")
    window.press("ESC")
    yield lambda: known.interactive is None
    yield lambda: known.complete and not known.busy
    assert np.array_equal(scenes.evaluated(obj), before)
    yield from at_rest(known)


def test_undo_of_a_key_fills_again(window):
    obj, rig, known = yield from previewed(window)
    expected = shown_frames(obj)
    passes = known.filling
    with window.context():
        bpy.ops.ed.undo_push(message="before")
        rig.pose.bones["Upper"].rotation_euler.z = 0.9
        rig.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=20)
        bpy.ops.ed.undo_push(message="key")
    # As any event would: without one the window evaluates nothing.
    bpy.context.view_layer.update()
    yield lambda: known.filling is not passes
    yield lambda: known.complete and not known.busy
    assert not np.array_equal(shown_frames(obj), expected)
    with window.context():
        bpy.ops.ed.undo()
    bpy.context.view_layer.update()
    obj = bpy.data.objects["Column"]
    yield 0.5
    yield lambda: preview().session(obj).complete and not preview().session(obj).busy
    assert np.array_equal(shown_frames(obj), expected)
    yield from at_rest(preview().session(obj))


def test_who_poses_the_rig_at_every_frame_is_named_and_playing_from_the_start_fills(window):
    seen = set()

    def bend(scene, _depsgraph=None):
        seen.add(scene.name)
        bpy.data.objects["Rig"].pose.bones["Lower"].rotation_euler = (0.02 * scene.frame_current, 0.0, 0.0)

    _, rig, known = yield from previewed(window)
    rig.pose.bones["Lower"].rotation_mode = "XYZ"
    bpy.app.handlers.frame_change_post.append(bend)
    try:
        bpy.context.scene.frame_set(7)
        yield lambda: "move its rig" in known.status()
        assert "test_live" in known.status()
        window.show_sidebar()
        window.screenshot("named-handlers")
        for frame in FRAMES:
            bpy.context.scene.frame_set(frame)
            yield 0.01
        yield lambda: known.complete and not known.busy
        assert known.status() == "Draft"
        passes = known.filling
        bpy.context.scene.frame_set(9)
        yield 1.0
        assert known.filling is passes and len(bpy.data.scenes) == 1
        assert seen == {bpy.context.scene.name}
    finally:
        bpy.app.handlers.frame_change_post.remove(bend)


def switched(window, obj, on):
    """Presses the button for the preview."""
    window.invoke("jounce.preview")
    yield lambda: obj.jounce.preview == on and not window.is_running("JOUNCE_OT_preview")


def fine(obj):
    """Asks for the final motion."""
    obj.jounce.quality = "FINAL"


def test_off_and_on_again_is_at_the_same_frame_at_once(window):
    yield from set_aside(window, lambda _obj: None)


def test_so_is_a_final_motion(window):
    yield from set_aside(window, lambda _obj: None, fine)


def test_so_is_a_rig_that_is_not_linear(window):
    yield from set_aside(window, shaped)


def set_aside(window, change, then=lambda _obj: None):
    """Switches the preview off and on in several frames, with a change in between."""
    obj, rig, known = yield from previewed(window, change)
    then(obj)
    yield 0.5
    yield lambda: known.complete and not known.busy
    shapes = shown_frames(obj)
    for frame, elsewhere in ((7, 7), (9, 12)):
        bpy.context.scene.frame_set(frame)
        passes, final = known.filling, known.final
        yield from switched(window, obj, False)
        assert not np.array_equal(scenes.evaluated(obj), shapes[frame - 1])
        bpy.context.scene.frame_set(elsewhere)
        yield 0.3
        yield from switched(window, obj, True)
        assert np.array_equal(scenes.evaluated(obj), shapes[elsewhere - 1])
        yield 0.6
        assert preview().session(obj) is known and known.filling is passes and known.final is final
        assert np.array_equal(scenes.evaluated(obj), shapes[elsewhere - 1])
    yield from switched(window, obj, False)
    bone = rig.pose.bones["Upper"]
    bone.rotation_euler.x = -0.6
    bone.keyframe_insert("rotation_euler", frame=5)
    bpy.context.view_layer.update()
    yield 0.2
    yield from switched(window, obj, True)
    yield lambda: known.filling is not passes
    yield lambda: known.complete and not known.busy
    assert not np.allclose(shown_frames(obj), shapes)
    yield from at_rest(known)


def test_undo_of_switching_off_shows_it_again(window):
    obj, _, known = yield from previewed(window)
    shapes = shown_frames(obj)
    with window.context():
        bpy.ops.ed.undo_push(message="before")
    yield from switched(window, obj, False)
    with window.context():
        bpy.ops.ed.undo()
    obj = bpy.data.objects["Column"]
    assert obj.jounce.preview
    yield lambda: preview().session(obj) is not None
    yield lambda: preview().session(obj).complete and not preview().session(obj).busy
    assert np.array_equal(shown_frames(obj), shapes)
    yield from switched(window, obj, False)
    window.invoke("jounce.remove")
    yield 0.3
    assert preview().after_frame not in bpy.app.handlers.frame_change_post
