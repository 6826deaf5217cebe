"""Display of a previewed body in the window, in any order of frames, against its bake."""

import importlib
import tempfile
from pathlib import Path

import bpy
import extension
import numpy as np
import scenes
from window import resident_bytes

LAST = 30
FRAMES = range(1, LAST + 1)


def session_of(obj):
    """The extension's session of a previewed body."""
    return importlib.import_module(f"{extension.INSTALLED}.bridge.preview.previews").session(obj)


def filled(name="Column"):
    """Waits until the preview has nothing left to do."""
    yield lambda: session_of(bpy.data.objects[name]) is not None
    session = session_of(bpy.data.objects[name])
    yield lambda: session.complete and not session.busy


def previewed(window):
    """A swinging character with a full cache."""
    obj, rig = scenes.character()
    scenes.settle_scene(end=LAST)
    scenes.add_and_build(obj)
    window.invoke("jounce.preview")
    yield lambda: obj.jounce.preview
    yield from filled()
    return obj, rig


def baked(obj):
    """The shapes (f, p, 3) of the same body, simulated again and baked, with its preview off."""
    scenes.activate(obj)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.clear_cache()
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=LAST)
    return scenes.evaluated_frames(obj, FRAMES)


def far(shapes, others):
    """The largest distance between two series of shapes, as a share of the size of the first."""
    return np.abs(np.asarray(shapes) - others).max() / np.ptp(np.asarray(shapes)[0], axis=0).max()


def test_every_way_to_a_frame_shows_the_bake(window):
    obj, _ = yield from previewed(window)
    scene, shown = bpy.context.scene, {}
    with window.context():
        bpy.ops.screen.animation_play()
    yield 1.5
    with window.context():
        bpy.ops.screen.animation_cancel(restore_frame=False)
    shown[scene.frame_current] = scenes.evaluated(obj)
    coefficients = list(session_of(obj).cache.coefficients)
    for frame in [*reversed(FRAMES), 17, 3, 29, 4]:
        scene.frame_set(frame)
        again = scenes.evaluated(obj)
        assert np.array_equal(shown.setdefault(frame, again), again), frame
    bpy.ops.jounce.clear_cache()
    yield 0.2
    yield from filled()
    assert np.array_equal(np.array(session_of(obj).cache.coefficients), np.array(coefficients))
    assert far([shown[frame] for frame in FRAMES], baked(obj)) < 1e-6


def test_another_frame_rate_is_simulated_anew_and_shows_its_bake(window):
    obj, _ = yield from previewed(window)
    before = scenes.evaluated_frames(obj, FRAMES)
    bpy.context.scene.render.fps = 60
    bpy.context.scene.frame_set(5)
    yield 0.5
    yield from filled()
    after = scenes.evaluated_frames(obj, FRAMES)
    assert far(before, after) > 1e-3
    assert far(after, baked(obj)) < 1e-6


def test_a_keyed_bone_dragged_with_the_mouse_shows_its_bake(window):
    obj, rig = yield from previewed(window)
    bpy.context.scene.frame_set(8)
    window.look_at(rig)
    scenes.activate(rig)
    with window.context():
        bpy.ops.object.mode_set(mode="POSE")
        rig.data.bones.active = rig.data.bones["Upper"]
        # Blender would report keying a bone without keys.
        bpy.ops.pose.select_all(action="DESELECT")
        bpy.ops.object.select_pattern(pattern="Upper")
        rig.pose.bones["Upper"].keyframe_insert("rotation_euler", frame=8)
    bpy.context.scene.tool_settings.use_keyframe_insert_auto = True
    before = scenes.evaluated(obj)
    x, y = window.centre()
    start = (x + 100, y)
    window.move(*start)
    yield 0.1
    window.press("R", start)
    yield from window.drag(start, (-100, 100))
    window.press("LEFTMOUSE", (x, y + 100))
    yield 1.0
    assert far(before[np.newaxis], scenes.evaluated(obj)[np.newaxis]) > 1e-3
    with window.context():
        bpy.ops.object.mode_set(mode="OBJECT")
    yield from filled()
    shown = scenes.evaluated_frames(obj, FRAMES)
    assert far(shown, baked(obj)) < 1e-6


def test_saved_and_opened_again_it_shows_the_same(window):
    obj, _ = yield from previewed(window)
    before = scenes.evaluated_frames(obj, FRAMES)
    coefficients = np.array(session_of(obj).cache.coefficients)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "shot.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        yield 0.2
        yield from filled()
        obj = bpy.data.objects["Column"]
        assert np.array_equal(np.array(session_of(obj).cache.coefficients), coefficients)
        assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), before)


def test_two_thousand_frames_leave_the_memory_as_it_was(window):
    obj, _ = yield from previewed(window)
    scene = bpy.context.scene
    sizes = []
    for lap in range(70):
        for frame in FRAMES:
            scene.frame_set(frame)
        if lap in (10, 69):
            sizes.append(resident_bytes())
        yield 0.0
    assert sizes[1] - sizes[0] < 4 << 20, sizes
