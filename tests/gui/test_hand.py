"""Swinging modes and grabbed flesh, with simulated mouse and keys."""

import bpy
import numpy as np
import scenes
from previewed import built, module, previewed

FLEX, GRAB = "JOUNCE_OT_flex_mode", "JOUNCE_OT_grab"


def test_a_mode_swings_until_escape_and_leaves_the_mesh_as_it_was(window):
    obj = built(window)
    still, modifiers = scenes.evaluated(obj), len(obj.modifiers)
    window.invoke("jounce.flex_mode", mode=1)
    seen = []
    for _ in range(6):
        yield 0.1
        seen.append(np.abs(scenes.evaluated(obj) - still).max())
    assert window.is_running(FLEX) and max(seen) > 0.02
    assert obj.jounce.mode_index == 1
    window.press("ESC")
    yield lambda: not window.is_running(FLEX)
    assert np.array_equal(scenes.evaluated(obj), still) and len(obj.modifiers) == modifiers


def test_a_mode_swings_on_a_previewed_body_too(window):
    obj = yield from previewed(window)
    bpy.context.scene.frame_set(9)
    shown = scenes.evaluated(obj)
    window.invoke("jounce.flex_mode", mode=0)
    yield 0.3
    window.press("ESC")
    yield lambda: not window.is_running(FLEX)
    yield 0.1
    assert np.array_equal(scenes.evaluated(obj), shown)


def test_the_modes_are_listed(window):
    obj = built(window)
    ratios = [mode.ratio for mode in obj.jounce.modes_built]
    assert len(ratios) == 6 and ratios == sorted(ratios)
    assert abs(min(ratio for ratio in ratios if ratio > 0.1) - 1.0) < 1e-3
    window.show_sidebar()
    yield 0.1
    window.screenshot("modes")


def test_flesh_follows_the_mouse_settles_and_shows_its_frame_again(window):
    obj = yield from previewed(window)
    bpy.context.scene.frame_set(9)
    yield 0.2
    shown = scenes.evaluated(obj)
    window.invoke("jounce.grab")
    x, y = window.centre()
    start = (x, y + 60)
    window.move(*start)
    yield 0.1
    window.hold("LEFTMOUSE", "PRESS", start)
    yield 0.1
    yield from window.drag(start, (90, 0))
    yield 0.6
    pulled = scenes.evaluated(obj) - shown
    assert window.is_running(GRAB)
    assert pulled[:, 0].max() > 0.02 and np.isfinite(pulled).all()
    window.screenshot("grab")
    window.hold("LEFTMOUSE", "RELEASE", (start[0] + 90, start[1]))
    yield 0.1
    session = module("bridge.preview.previews").session(obj)
    yield lambda: session.interactive is None
    yield 0.2
    assert np.array_equal(scenes.evaluated(obj), shown)
    window.press("ESC")
    yield lambda: not window.is_running(GRAB)
    assert np.array_equal(scenes.evaluated(obj), shown)


def test_escape_while_pulling_shows_the_frame_again(window):
    obj = yield from previewed(window)
    shown = scenes.evaluated(obj)
    window.invoke("jounce.grab")
    start = window.centre()
    window.move(*start)
    yield 0.1
    window.hold("LEFTMOUSE", "PRESS", start)
    yield from window.drag(start, (60, 20))
    window.press("ESC")
    yield lambda: not window.is_running(GRAB)
    yield 0.1
    assert np.array_equal(scenes.evaluated(obj), shown)
