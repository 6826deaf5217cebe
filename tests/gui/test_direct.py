"""Flesh dragged to a key with the mouse, sculpted, scrubbed, undone, and its panel and timeline."""

import importlib

import bpy
import extension
import numpy as np
import scenes

DRAG = "JOUNCE_OT_key_drag"
KEY = 12


def module(name):
    """A module of the extension."""
    return importlib.import_module(f"{extension.INSTALLED}.{name}")


def settled(obj):
    """Waits until every frame is up to date."""
    previews = module("bridge.preview.previews")
    yield lambda: previews.session(obj) is not None
    yield lambda: previews.session(obj).complete and not previews.session(obj).busy


def previewed(window):
    """A column with flesh in a calm viewport, previewed, in the frame of the key."""
    obj, rig = scenes.character()
    scenes.settle_scene(24)
    scenes.add_and_build(obj)
    rig.hide_set(True)
    window.calm()
    window.look_at(obj)
    scenes.activate(obj)
    window.invoke("jounce.preview")
    yield lambda: obj.jounce.preview
    yield from settled(obj)
    bpy.context.scene.frame_set(KEY)
    yield 0.3
    bpy.ops.ed.undo_push(message="shown")
    return obj


def dragged(window, by):
    """Drags the flesh in the middle of the viewport; the drag tool runs on."""
    window.invoke("jounce.key_drag")
    x, y = window.centre()
    start = (x, y + 60)
    window.move(*start)
    yield 0.1
    window.hold("LEFTMOUSE", "PRESS", start)
    yield 0.1
    yield from window.drag(start, by)
    yield 0.2
    return start


def test_flesh_is_dragged_to_a_key_that_stays_and_is_undone(window):
    obj = yield from previewed(window)
    before = scenes.evaluated_frames(obj, range(1, 25))
    yield from settled(obj)
    start = yield from dragged(window, (80, 20))
    pulled = scenes.evaluated(obj)
    assert window.is_running(DRAG) and (pulled - before[KEY - 1])[:, 0].max() > 0.05
    window.screenshot("direct-drag")
    window.hold("LEFTMOUSE", "RELEASE", (start[0] + 80, start[1] + 20))
    yield lambda: len(obj.jounce.flesh_keys) == 1
    yield 0.2
    assert obj.jounce.flesh_key.frame == KEY
    assert np.abs(scenes.evaluated(obj) - pulled).max() < 1e-4
    window.press("ESC")
    yield lambda: not window.is_running(DRAG)
    obj.jounce.flesh_key.before = obj.jounce.flesh_key.after = 6
    yield 0.3
    after = scenes.evaluated_frames(obj, range(1, 25))
    changed = [row + 1 for row in range(24) if not np.array_equal(after[row], before[row])]
    assert changed == list(range(KEY - 5, KEY + 6)), changed
    yield from settled(obj)
    bpy.context.scene.frame_set(KEY + 3)
    window.open_panels("JOUNCE_PT_direct")
    window.show_sidebar()
    yield 0.3
    window.screenshot("direct-panel")
    bpy.context.scene.frame_set(KEY)
    window.press("Z", ctrl=True)
    yield 0.3
    obj = bpy.data.objects["Column"]
    if len(obj.jounce.flesh_keys):
        window.press("Z", ctrl=True)
        yield 0.3
        obj = bpy.data.objects["Column"]
    assert len(obj.jounce.flesh_keys) == 0
    yield from settled(obj)
    assert np.abs(scenes.evaluated(obj) - before[KEY - 1]).max() < 1e-5


def test_escape_while_dragging_leaves_no_key(window):
    obj = yield from previewed(window)
    before = scenes.evaluated(obj)
    yield from dragged(window, (60, 0))
    assert np.abs(scenes.evaluated(obj) - before).max() > 0.03
    window.press("ESC")
    yield lambda: not window.is_running(DRAG)
    yield 0.2
    assert len(obj.jounce.flesh_keys) == 0 and np.array_equal(scenes.evaluated(obj), before)


def test_a_curve_is_seen_at_once(window):
    obj = yield from previewed(window)
    before, seen = scenes.evaluated(obj), window.view_pixels()
    obj.jounce.exaggerate = 3.0
    yield 0.3
    assert np.abs(scenes.evaluated(obj) - before).max() > 0.01
    assert not np.array_equal(window.view_pixels(), seen)


def test_a_sculpted_copy_is_kept_by_the_panels_button(window):
    obj = yield from previewed(window)
    before = scenes.evaluated(obj)
    window.invoke("jounce.key_sculpt")
    yield lambda: bpy.context.view_layer.objects.active != obj
    copy = bpy.context.view_layer.objects.active
    assert copy.mode == "SCULPT"
    x, y = window.centre()
    start = (x, y + 80)
    window.move(*start)
    yield 0.3
    window.hold("LEFTMOUSE", "PRESS", start)
    yield 0.2
    yield from window.drag(start, (0, 60), steps=12)
    yield 0.2
    window.hold("LEFTMOUSE", "RELEASE", (start[0], start[1] + 60))
    yield 0.5
    window.show_sidebar()
    yield 0.2
    window.screenshot("direct-sculpt")
    matrix, places = np.array(copy.matrix_world), np.array([vertex.co for vertex in copy.data.vertices])
    shape = places @ matrix[:3, :3].T + matrix[:3, 3]
    assert np.abs(shape - before).max() > 1e-3
    window.invoke("jounce.key_sculpted")
    yield lambda: len(obj.jounce.flesh_keys) == 1
    yield from settled(obj)
    assert bpy.context.scene.frame_current == KEY and not obj.hide_get()
    assert np.abs(scenes.evaluated(obj) - shape).max() < 1e-4


def test_enter_keeps_the_shape_of_grabbed_flesh(window):
    obj = yield from previewed(window)
    before = scenes.evaluated(obj)
    window.invoke("jounce.grab")
    x, y = window.centre()
    start = (x, y + 60)
    window.move(*start)
    yield 0.1
    window.hold("LEFTMOUSE", "PRESS", start)
    yield 0.1
    yield from window.drag(start, (90, 0))
    yield 0.8
    window.press("RET")
    yield lambda: len(obj.jounce.flesh_keys) == 1
    yield 0.3
    kept = scenes.evaluated(obj)
    assert (kept - before)[:, 0].max() > 0.02
    window.hold("LEFTMOUSE", "RELEASE", (start[0] + 90, start[1]))
    window.press("ESC")
    yield lambda: not window.is_running("JOUNCE_OT_grab")
    yield 0.3
    assert np.array_equal(scenes.evaluated(obj), kept)
