"""The default quality in a window: add, play, and within seconds the final motion is what plays and bakes."""

import importlib
import os
import tempfile
import time
from pathlib import Path

import bpy
import extension
import numpy as np
import scenes
from window import Skip

FILE, FRAMES, SECONDS = "mixamo/xbot_samba.fbx", range(1, 61), 10.0


def session(obj):
    """The session of a previewed object."""
    return importlib.import_module(f"{extension.INSTALLED}.bridge.preview.previews").session(obj)


def is_final(obj):
    """True once the line in the panel says so of all frames."""
    return session(obj).status().split(".")[0] == "Final"


def added(window, folder):
    """The host of a character of 24,746 vertices after Add Jounce, in a saved file."""
    path = Path(os.environ.get("JOUNCE_DATA", "/nowhere")) / FILE
    if not path.exists():
        raise Skip("JOUNCE_DATA is not set")
    with window.context():
        bpy.ops.import_scene.fbx(filepath=str(path))
    scenes.settle_scene(end=FRAMES.stop - 1)
    bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / "shot.blend"))
    rig = next(obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE")
    scenes.activate(rig)
    window.look_at(rig)
    window.show_sidebar()
    window.invoke("jounce.setup")
    yield lambda: not window.is_running("JOUNCE_OT_setup")
    host = next(obj for obj in bpy.context.scene.objects if obj.type == "MESH" and obj.jounce.is_host)
    scenes.activate(host)
    return host


def test_final_is_there_within_seconds_of_playing_and_is_what_bakes(window):
    with tempfile.TemporaryDirectory() as folder:
        host = yield from added(window, folder)
        started = time.monotonic()
        with window.context():
            bpy.ops.screen.animation_play()
        yield lambda: is_final(host)
        seconds = time.monotonic() - started
        with window.context():
            bpy.ops.screen.animation_cancel(restore_frame=False)
        window.note(
            "automatic.md",
            ["file", "frames", "seconds of playing until Final"],
            [FILE, len(FRAMES), f"{seconds:.1f}"],
        )
        window.screenshot("automatic")
        assert seconds < SECONDS
        shown = scenes.evaluated_frames(host, FRAMES)
        window.invoke("jounce.bake", target="MESH_CACHE")
        yield lambda: not window.is_running("JOUNCE_OT_bake")
        assert host.jounce.bake_parts
        size = np.linalg.norm(np.ptp(shown.reshape(-1, 3), axis=0))
        assert np.abs(scenes.evaluated_frames(host, FRAMES) - shown).max() < 1e-6 * size
        bpy.ops.jounce.free_bake()


def test_a_slider_acts_before_all_is_final_again_and_that_takes_seconds(window):
    with tempfile.TemporaryDirectory() as folder:
        host = yield from added(window, folder)
        bpy.context.scene.frame_set(40)
        yield lambda: is_final(host)
        known, before = session(host), scenes.evaluated(host)
        host.jounce.strength = 2.0
        # The shown frame may be final before the last frame has its draft.
        yield lambda: np.abs(scenes.evaluated(host) - before).max() > 0.0
        assert not is_final(host)
        yield lambda: is_final(host) and not known.busy
        assert known.display.shows(known.final.cache.coefficients[39])
