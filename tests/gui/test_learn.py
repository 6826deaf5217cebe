"""Learn This Shot in a window: progress, Esc, and live flesh at another stiffness."""

import importlib

import bpy
import extension
import numpy as np
import scenes

FRAMES = range(1, 41)


def session(obj):
    """The session of a previewed object."""
    return importlib.import_module(f"{extension.INSTALLED}.bridge.preview.previews").session(obj)


def character():
    """A built, swinging character without limits."""
    obj, _ = scenes.character()
    scenes.settle_scene(end=FRAMES.stop - 1)
    scenes.add_and_build(obj)
    obj.jounce.use_limit = obj.jounce.use_stretch = False
    return obj


def test_it_stops_where_it_is_and_learns_when_it_may(window):
    obj = character()
    window.invoke("jounce.preview")
    yield lambda: session(obj) is not None and session(obj).complete and not session(obj).busy
    window.show_sidebar()
    window.look_at(obj)
    window.invoke("jounce.learn")
    yield 0.1
    window.press("ESC")
    yield lambda: not window.is_running("JOUNCE_OT_learn")
    if obj.jounce.quality == "DRAFT":
        assert not obj.jounce.learnt_digest
        window.invoke("jounce.learn")
        yield lambda: not window.is_running("JOUNCE_OT_learn")
    assert obj.jounce.quality == "LEARNT" and obj.jounce.learnt_digest
    yield lambda: session(obj).final is not None and not session(obj).busy
    assert session(obj).status().startswith("Learnt, ")
    bpy.context.scene.frame_set(12)
    bpy.context.window_manager.jounce.field = "DRAFT_ERROR"
    window.redraw()
    window.screenshot("learnt-error")
    bpy.context.window_manager.jounce.field = "NONE"
    before = scenes.evaluated_frames(obj, FRAMES)
    obj.jounce.frequency *= 3.0
    yield lambda: session(obj).busy
    yield lambda: not session(obj).busy
    assert np.abs(scenes.evaluated_frames(obj, FRAMES) - before).max() > 1e-3
    assert any("times as stiff" in sentence for sentence in session(obj).final.warnings())
    window.redraw()
    window.screenshot("learnt-again")
    bpy.ops.ed.undo_push(message="before forgetting")
    with window.context():
        bpy.ops.jounce.forget_learnt()
    assert obj.jounce.quality == "AUTOMATIC"
