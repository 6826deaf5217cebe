"""Two and three previewed bodies in a window, one with Preserve Volume: filling, playback and rest."""

import importlib
from pathlib import Path

import bpy
import extension
import numpy as np
import scenes

FRAMES = range(1, 41)
NAMES = ("Column", "Thin", "Round")
# Seconds of work per tick of the timer, sufficient for a single frame of each body.
A_FRAME_A_TICK = 1e-3


def preview():
    """The extension's module for previews."""
    return importlib.import_module(f"{extension.INSTALLED}.bridge.preview.previews")


def session(name):
    """The session of a body by name, None without a preview."""
    obj = bpy.data.objects.get(name)
    return None if obj is None else preview().session(obj)


def at_rest(names):
    """Waits until all are full; nothing may be left to do, nor to be seen of their stages."""
    yield lambda: all(session(name) is not None and session(name).complete for name in names)
    yield lambda: not any(session(name).busy for name in names)
    passes = [session(name).filling for name in names]
    yield 1.0
    assert [session(name).filling for name in names] == passes, "the caches are checked again and again"
    yield lambda: not bpy.app.timers.is_registered(preview().tick)
    assert [session(name).status() for name in names] == ["Draft"] * len(names)
    assert len(bpy.data.scenes) == 1


def cast(window, count):
    """Characters with full caches; the last one's armature preserves volume."""
    made = []
    for number, name in enumerate(NAMES[-count:]):
        obj, rig = scenes.character()
        obj.name, rig.name = name, f"{name} Rig"
        rig.location.x = 1.5 * number
        made.append(obj)
    made[-1].modifiers["Armature"].use_deform_preserve_volume = True
    scenes.settle_scene(end=FRAMES.stop - 1)
    for obj in made:
        scenes.add_and_build(obj)
    scenes.activate(*made)
    window.invoke("jounce.preview")
    yield from at_rest(NAMES[-count:])
    return NAMES[-count:]


def shown(names):
    return [scenes.evaluated_frames(bpy.data.objects[name], FRAMES) for name in names]


def assert_same(names, expected):
    assert all(np.array_equal(now, then) for now, then in zip(shown(names), expected, strict=True))


def filling_again(names):
    """Makes all check their frames again, slowly enough for several simultaneous stages."""
    usual, preview().RESTING_SECONDS = preview().RESTING_SECONDS, A_FRAME_A_TICK
    try:
        for name in names:
            session(name).suspect()
        preview().ensure_timer()
        yield lambda: sum(session(name).is_staged for name in names) > 1
    finally:
        preview().RESTING_SECONDS = usual


def test_two_fill_play_and_rest(window):
    yield from filled_and_played(window, 2)


def test_three_fill_play_and_rest(window):
    yield from filled_and_played(window, 3)


def filled_and_played(window, count):
    """Fills and plays some bodies, with an unchanged display."""
    names = yield from cast(window, count)
    expected = shown(names)
    for name, shapes in zip(names, expected, strict=True):
        session(name).display.hide()
        assert np.abs(shapes[11] - scenes.evaluated(bpy.data.objects[name])).max() > 1e-3
    with window.context():
        bpy.ops.screen.animation_play()
    yield 1.5
    with window.context():
        bpy.ops.screen.animation_cancel(restore_frame=False)
    assert_same(names, expected)
    window.screenshot(f"live-{count}")
    yield from at_rest(names)


def test_undo_of_a_key_leaves_the_others_as_they_are(window):
    names = yield from cast(window, 3)
    expected = shown(names)
    with window.context():
        bpy.ops.ed.undo_push(message="before")
        bone = bpy.data.objects["Thin Rig"].pose.bones["Upper"]
        bone.rotation_euler.z = 0.9
        bone.keyframe_insert("rotation_euler", frame=20)
        bpy.ops.ed.undo_push(message="key")
    bpy.context.view_layer.update()
    yield lambda: session("Thin").busy
    yield from at_rest(names)
    changed = [np.array_equal(now, then) for now, then in zip(shown(names), expected, strict=True)]
    assert changed == [True, False, True]
    with window.context():
        bpy.ops.ed.undo()
    yield 0.5
    yield from at_rest(names)
    assert_same(names, expected)


def test_undo_while_they_fill(window):
    names = yield from cast(window, 3)
    expected = shown(names)
    with window.context():
        bpy.ops.ed.undo_push(message="before")
    yield from filling_again(names)
    with window.context():
        bpy.ops.ed.undo_push(message="while they fill")
        bpy.ops.ed.undo()
    yield 0.5
    yield from at_rest(names)
    assert_same(names, expected)


def test_save_and_reopen_while_they_fill(window):
    names = yield from cast(window, 3)
    expected = shown(names)
    yield from filling_again(names)
    path = Path(bpy.app.tempdir) / "several.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert len(bpy.data.scenes) == 1
    bpy.ops.wm.open_mainfile(filepath=str(path))
    yield 0.3
    yield from at_rest(names)
    assert_same(names, expected)


def test_deleting_one_while_they_fill(window):
    names = yield from cast(window, 3)
    left = (names[0], names[2])
    expected = shown(left)
    yield from filling_again(names)
    scenes.activate(bpy.data.objects["Thin"])
    with window.context():
        bpy.ops.object.delete()
    yield 0.3
    yield from at_rest(left)
    assert_same(left, expected)
    scenes.activate(bpy.data.objects[left[0]], bpy.data.objects[left[1]])
    with window.context():
        bpy.ops.object.delete()
    yield lambda: not preview()._sessions
    yield lambda: preview().after_frame not in bpy.app.handlers.frame_change_post
    assert not bpy.app.timers.is_registered(preview().tick)


def test_a_duplicate_fills_its_own_cache(window):
    names = yield from cast(window, 2)
    expected = shown(names)
    bpy.context.scene.frame_set(12)
    scenes.activate(bpy.data.objects["Round"], bpy.data.objects["Round Rig"])
    with window.context():
        bpy.ops.object.duplicate()
    yield lambda: session("Round.001") is not None
    yield from at_rest((*names, "Round.001"))
    assert_same((*names, "Round.001"), [*expected, expected[1]])
    with window.context():
        bpy.ops.ed.undo_push(message="duplicated")
        bpy.ops.object.delete()
    yield lambda: bpy.data.objects.get("Round.001") is None
    yield from at_rest(names)
    assert_same(names, expected)


def test_another_frame_rate_is_noticed_at_once(window):
    names = yield from cast(window, 2)
    bpy.context.scene.frame_set(12)
    before = [scenes.evaluated(bpy.data.objects[name]) for name in names]
    bpy.context.scene.render.fps = 60
    yield lambda: all(session(name).busy for name in names)
    yield from at_rest(names)
    after = [scenes.evaluated(bpy.data.objects[name]) for name in names]
    assert all(np.abs(now - then).max() > 1e-4 for now, then in zip(after, before, strict=True))
    bpy.context.scene.frame_set(13)
    bpy.context.scene.frame_set(12)
    assert all(
        np.array_equal(scenes.evaluated(bpy.data.objects[name]), now)
        for name, now in zip(names, after, strict=True)
    )
