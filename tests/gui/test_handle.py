"""The handle on a part in the viewport: dragged, cancelled, undone, out of the way of playback."""

import importlib

import bpy
import extension
import numpy as np
import scenes
from bpy_extras.view3d_utils import location_3d_to_region_2d


def module(name):
    """A module of the extension."""
    return importlib.import_module(f"{extension.INSTALLED}.{name}")


def previewed(window):
    """A column whose upper half is a tail, previewed, in a viewport that shows gizmos."""
    obj, rig = scenes.character()
    rig.data.bones["Upper"].name = "Tail"
    rig.pose.bones["Tail"].jounce_role = "FREE"
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    obj.jounce.bone_core = 0.5
    bpy.ops.jounce.build()
    rig.hide_set(True)
    window.calm()
    window.viewport.spaces[0].show_gizmo = True
    window.look_at(obj)
    scenes.activate(obj)
    window.invoke("jounce.preview")
    yield lambda: obj.jounce.preview
    session = module("bridge.preview.previews").session(obj)
    yield lambda: session.complete and not session.busy
    obj.jounce.part_index = obj.jounce.parts.find("tail")
    bpy.ops.ed.undo_push(message="shown")
    window.redraw()
    yield 0.2
    return obj


def at(window, obj):
    """The handle's place in the window."""
    with window.context():
        place = module("overlay.handle").place_of(obj, bpy.context)
        x, y = location_3d_to_region_2d(window.region(), bpy.context.region_data, place)
    return window.region().x + round(x), window.region().y + round(y)


def dragged(window, start, by):
    """Presses on the handle and moves the mouse, without letting go."""
    window.move(*start)
    yield 0.2
    window.redraw()
    yield 0.2
    window.hold("LEFTMOUSE", "PRESS", start)
    yield 0.2
    yield from window.drag(start, by)
    yield 0.2


def test_the_handle_drags_the_amount_as_one_step_of_undo(window):
    obj = yield from previewed(window)
    part = obj.jounce.parts["tail"]
    start = at(window, obj)
    # On the tail, the upper half.
    assert start[1] > window.centre()[1]
    window.screenshot("handle")
    before = scenes.evaluated_frames(obj, range(1, 13))
    bpy.context.scene.frame_set(1)
    yield 0.3
    yield from dragged(window, start, (100, 0))
    assert abs(part.amount - 2.0) < 0.1, part.amount
    window.screenshot("handle-dragged")
    window.hold("LEFTMOUSE", "RELEASE", (start[0] + 100, start[1]))
    yield 0.5
    assert abs(part.amount - 2.0) < 0.1
    session = module("bridge.preview.previews").session(obj)
    yield lambda: session.complete and not session.busy
    moved = np.abs(scenes.evaluated_frames(obj, range(1, 13)) - before).max()
    assert moved > 0.005
    with window.context():
        bpy.ops.ed.undo()
    yield 0.3
    assert bpy.data.objects["Column"].jounce.parts["tail"].amount == 1.0


def test_escape_puts_the_amount_back(window):
    obj = yield from previewed(window)
    part = obj.jounce.parts["tail"]
    start = at(window, obj)
    yield from dragged(window, start, (-60, 0))
    assert part.amount < 0.6
    window.press("ESC", (start[0] - 60, start[1]))
    yield 0.3
    assert part.amount == 1.0
    window.hold("LEFTMOUSE", "RELEASE", start)
    yield 0.2
    assert part.amount == 1.0


def test_it_shows_for_an_eye_or_a_preview_and_not_in_playback(window):
    obj = yield from previewed(window)
    handle, settings = module("overlay.handle"), bpy.context.window_manager.jounce

    def is_shown():
        with window.context():
            return handle.host_in(bpy.context) == obj

    assert is_shown()
    with window.context():
        bpy.ops.screen.animation_play()
    yield 0.3
    assert not is_shown()
    with window.context():
        bpy.ops.screen.animation_cancel()
    yield 0.2
    window.invoke("jounce.preview", show="POSE")
    yield lambda: not obj.jounce.preview
    assert not is_shown()
    obj.jounce.parts["tail"].shown = True
    assert is_shown()
    with window.context():
        bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
        assert not is_shown()
        bpy.ops.object.mode_set(mode="OBJECT")
    assert is_shown()
    settings.handle = False
    assert not is_shown()
    settings.handle = True
    obj.jounce.parts["tail"].shown = False


def test_it_goes_along_with_a_part_that_is_painted_elsewhere(window):
    obj = yield from previewed(window)
    window.invoke("jounce.part_add", where="PAINT", part_name="Mine")
    yield lambda: obj.mode == "WEIGHT_PAINT"
    heights = []
    for low, high in ((-1.0, 0.5), (1.5, 3.0)):
        rows = [vertex.index for vertex in obj.data.vertices if low < vertex.co.z < high]
        with window.context():
            bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
        window.redraw()
        obj.vertex_groups["Mine"].remove(range(len(obj.data.vertices)))
        obj.vertex_groups["Mine"].add(rows, 1.0, "REPLACE")
        with window.context():
            bpy.ops.object.mode_set(mode="OBJECT")
        session = module("bridge.preview.previews").session(obj)
        yield lambda known=session: known.complete and not known.busy
        window.redraw()
        heights.append(at(window, obj)[1])
    assert heights[1] > heights[0] + 100


def test_it_comes_back_with_a_body_that_undo_brings_back(window):
    obj = yield from previewed(window)
    place = at(window, obj)
    with window.context():
        bpy.ops.object.delete()
        bpy.ops.ed.undo_push(message="deleted")
        bpy.ops.ed.undo()
    yield 0.5
    again = bpy.data.objects["Column"]
    session = module("bridge.preview.previews").session
    yield lambda: session(again) is not None and session(again).complete and not session(again).busy
    window.redraw()
    assert np.abs(np.subtract(at(window, again), place)).max() <= 2
