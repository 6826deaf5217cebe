"""Parts of the artist's in the window: from a selection in Edit Mode, and by brush."""

import bpy
import numpy as np
import scenes
from previewed import previewed, settled


def started(window):
    """A previewed character, to which undo comes back."""
    obj = yield from previewed(window)
    bpy.ops.ed.undo_push(message="shown")
    return obj


def weights(obj, name):
    """Weights (p,) of a vertex group."""
    index = obj.vertex_groups[name].index
    return np.array([sum(g.weight for g in v.groups if g.group == index) for v in obj.data.vertices])


def test_a_selection_in_edit_mode_becomes_a_part_and_control_z_takes_it_back(window):
    obj = yield from started(window)
    window.press("TAB")
    yield lambda: obj.mode == "EDIT"
    window.press("A")
    yield 0.2
    window.invoke("jounce.part_add", part_name="All", amount=2.0)
    yield lambda: "All" in obj.jounce.parts
    window.press("TAB")
    yield lambda: obj.mode == "OBJECT"
    assert weights(obj, "All").min() == 1.0
    yield from settled(obj)
    assert obj.jounce.parts["All"].found > 0.9
    window.show_sidebar()
    yield 0.2
    window.screenshot("own-part")
    for _ in range(4):
        if "All" not in bpy.data.objects["Column"].jounce.parts:
            break
        window.press("Z", ctrl=True)
        yield 0.5
    assert "All" not in bpy.data.objects["Column"].jounce.parts


def test_a_brush_paints_a_part_that_moves_after_the_stroke(window):
    obj = yield from started(window)
    before = scenes.evaluated_frames(obj, range(1, 13))
    bpy.context.scene.frame_set(1)
    window.invoke("jounce.part_add", where="PAINT", amount=3.0)
    yield lambda: obj.mode == "WEIGHT_PAINT"
    assert not weights(obj, "Part").any()
    x, y = window.centre()
    for height in (120, 200):
        start = (x - 60, y + height)
        window.move(*start)
        yield 0.1
        window.hold("LEFTMOUSE", "PRESS", start)
        yield 0.1
        yield from window.drag(start, (120, 0))
        window.hold("LEFTMOUSE", "RELEASE", (start[0] + 120, start[1]))
        yield 0.2
    yield lambda: weights(obj, "Part").max() > 0.5
    bpy.ops.object.mode_set(mode="OBJECT")
    yield from settled(obj)
    assert obj.jounce.parts["Part"].found > 0.0
    assert np.abs(scenes.evaluated_frames(obj, range(1, 13)) - before).max() > 0.01
