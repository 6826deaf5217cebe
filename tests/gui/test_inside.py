"""The panel Inside in a window: a shape on the mesh, which ends with its panel, and the spectrum."""

import bpy
import numpy as np
import scenes
from previewed import module, previewed


def shown_in_frame(window):
    """A previewed character in a frame in which it moves."""
    obj = yield from previewed(window)
    bpy.context.scene.frame_set(9)
    yield 0.2
    return obj


def test_a_shape_is_shown_until_its_panel_is_closed(window):
    obj = yield from shown_in_frame(window)
    settings = bpy.context.window_manager.jounce
    window.open_panels("JOUNCE_PT_main", "JOUNCE_PT_more", "JOUNCE_PT_inside")
    window.show_sidebar()
    yield 0.2
    window.invoke("jounce.linear_modes")
    bridge_shown = module("bridge.preview.scrubbing")
    shown = scenes.evaluated(obj)
    settings.family, settings.number = "LINEAR", 2
    settings.scrub = 1.0
    yield 3.0 * bridge_shown.UNSEEN_SECONDS
    assert bridge_shown.is_on() and np.abs(scenes.evaluated(obj) - shown).max() > 0.02
    window.screenshot("inside-shape")
    window.scroll_sidebar(40)
    yield 0.5
    window.screenshot("inside-panel")
    window.viewport.spaces[0].show_region_ui = False
    yield lambda: not bridge_shown.is_on()
    assert settings.scrub == 0.0 and np.array_equal(scenes.evaluated(obj), shown)


def test_a_derivative_swings_until_escape(window):
    obj = yield from shown_in_frame(window)
    settings = bpy.context.window_manager.jounce
    window.invoke("jounce.linear_modes")
    shown = scenes.evaluated(obj)
    settings.family = "DERIVATIVES"
    window.invoke("jounce.flex_mode", mode=4)
    moved = []
    for _ in range(6):
        yield 0.1
        moved.append(np.abs(scenes.evaluated(obj) - shown).max())
    assert max(moved) > 0.02
    window.press("ESC")
    yield lambda: not window.is_running("JOUNCE_OT_flex_mode")
    yield 0.1
    assert np.array_equal(scenes.evaluated(obj), shown)
    settings.property_unset("family")


def test_the_spectrum_is_drawn_and_gone_again(window):
    obj = yield from shown_in_frame(window)
    settings = bpy.context.window_manager.jounce
    plain = window.view_pixels()
    settings.spectrum = True
    seen = (np.abs(window.view_pixels().astype(int) - plain).max(axis=2)) > 8
    assert seen.mean() > 0.005
    rows, columns = np.nonzero(seen)
    height, width = seen.shape
    assert columns.min() > width // 4 and len(rows) < 0.2 * height * width
    window.screenshot("inside-spectrum")
    obj.jounce.mode_index = 3
    window.picture("inside-spectrum-chosen")
    settings.spectrum = False
    assert not ((np.abs(window.view_pixels().astype(int) - plain).max(axis=2)) > 8).any()


def test_the_samples_of_a_learnt_shot_are_drawn_and_gone_again(window):
    yield from shown_in_frame(window)
    bpy.ops.jounce.learn()
    window.redraw()
    settings = bpy.context.window_manager.jounce
    plain = window.view_pixels()
    settings.samples = True
    drawn = (np.abs(window.view_pixels().astype(int) - plain).max(axis=2)) > 8
    window.screenshot("inside-samples")
    assert 0.0003 < drawn.mean() < 0.2
    settings.samples = False
    assert not ((np.abs(window.view_pixels().astype(int) - plain).max(axis=2)) > 8).any()
