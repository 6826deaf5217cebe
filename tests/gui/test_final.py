"""The final motion in a window: behind its draft, and continued after an interrupted bake."""

import importlib
import tempfile
from pathlib import Path

import bpy
import extension
import numpy as np
import scenes

FRAMES = range(1, 41)


def saved_character(folder):
    """A built, swinging character in a saved file in final quality, and the path of its motion."""
    obj, _ = scenes.character()
    scenes.settle_scene(end=FRAMES.stop - 1)
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / "shot.blend"))
    scenes.add_and_build(obj)
    return obj, Path(folder) / f"shot {obj.name}.jcache"


def session(obj):
    """The session of a previewed object."""
    return importlib.import_module(f"{extension.INSTALLED}.bridge.preview.previews").session(obj)


def test_it_comes_behind_the_draft_and_then_rests(window):
    with tempfile.TemporaryDirectory() as folder:
        obj, kept = saved_character(folder)
        window.invoke("jounce.preview")
        yield lambda: session(obj) is not None and session(obj).complete and not session(obj).busy
        draft = scenes.evaluated_frames(obj, FRAMES)
        obj.jounce.quality = "FINAL"
        yield lambda: session(obj).final is not None
        yield lambda: not session(obj).busy
        known = session(obj)
        assert known.status() == "Final" and kept.is_file()
        final = scenes.evaluated_frames(obj, FRAMES)
        assert np.abs(final - draft).max() > 1e-3
        passes = known.final
        yield 1.0
        assert known.final is passes and not known.busy, "the final motion is simulated again and again"
        bpy.context.scene.frame_set(30)
        window.show_sidebar()
        window.look_at(obj)
        bpy.context.window_manager.jounce.field = "DRAFT_ERROR"
        window.screenshot("final-draft-error")
        bpy.context.window_manager.jounce.field = "NONE"
        window.invoke("jounce.bake", target="MESH_CACHE")
        yield lambda: bool(obj.jounce.bake_parts)
        assert np.abs(scenes.evaluated_frames(obj, FRAMES) - final).max() < 1e-5
        bpy.ops.jounce.free_bake()


def test_a_bake_that_is_stopped_goes_on_where_it_was(window):
    with tempfile.TemporaryDirectory() as folder:
        obj, kept = saved_character(folder)
        obj.jounce.quality = "FINAL"
        window.invoke("jounce.bake", target="MESH_CACHE")
        yield lambda: kept.is_file() and kept.stat().st_size > 20_000
        window.press("ESC")
        yield lambda: not window.is_running("JOUNCE_OT_bake")
        if not obj.jounce.bake_parts:
            begun = kept.read_bytes()
            window.invoke("jounce.bake", target="MESH_CACHE")
            yield lambda: bool(obj.jounce.bake_parts)
            assert kept.read_bytes().startswith(begun)
        bpy.ops.jounce.free_bake()
