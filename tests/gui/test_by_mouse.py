"""The panel by mouse alone: eyes, mute and solo of parts, the picture of a preset, a bake and its removal."""

import bpy
import numpy as np
import scenes
from test_panel import AMOUNTS, FRAMES, ROW, one_click, settled

# Places of the icons of a part, the two buttons of the bake, and the buttons *Pose* and *Flesh*, as shares of
# the sidebar's width.
EYE, MUTE, SOLO, BAKE, FREE, POSE, FLESH = 0.64, 0.72, 0.79, 0.3, 0.83, 0.18, 0.6
# Heights of large buttons, in pixels.
LARGE = range(24, 34)


def icon(window, row, along):
    """The place of an icon or a button in a row."""
    sidebar = window.region("UI")
    return sidebar.x + round(along * sidebar.width), row[1]


def distance(host, other):
    """Largest distance of the shown frames from other ones."""
    return np.abs(scenes.evaluated_frames(host, FRAMES) - other).max()


def test_eye_mute_and_solo_of_a_part(window):
    host = yield from one_click(window)
    parts, rows = host.jounce.parts, window.buttons(AMOUNTS, ROW)
    belly, ears = rows[0], rows[parts.find("ears")]
    moving = scenes.evaluated_frames(host, FRAMES)
    yield from window.click(icon(window, belly, EYE))
    assert parts["belly"].shown
    yield 0.3
    window.screenshot("mouse-eye")
    yield from window.click(icon(window, belly, EYE))
    assert not parts["belly"].shown
    yield from window.click(icon(window, ears, MUTE))
    assert parts["ears"].mute
    yield lambda: settled(host)
    assert distance(host, moving) > 1e-2, "muted ears move"
    yield from window.click(icon(window, ears, MUTE))
    yield lambda: settled(host)
    assert distance(host, moving) < 1e-6
    yield from window.click(icon(window, belly, SOLO))
    assert parts["belly"].solo
    yield lambda: settled(host)
    assert distance(host, moving) > 1e-2, "ears move beside a belly that moves alone"
    window.screenshot("mouse-solo")


def test_picture_of_a_preset(window):
    host = yield from one_click(window)
    moving = scenes.evaluated_frames(host, FRAMES)
    sidebar, top = window.region("UI"), window.buttons(AMOUNTS, ROW)[0][1]
    yield from window.click((sidebar.x + round(0.15 * sidebar.width), top + 75))
    yield 1.0
    window.screenshot("mouse-presets")
    cartoon = sidebar.x - round(1.02 * sidebar.width), top - 26
    yield from window.click(cartoon)
    yield 0.5
    assert host.jounce.preset == "Cartoon"
    yield lambda: settled(host)
    assert distance(host, moving) > 1e-3
    name = host.name
    bpy.ops.ed.undo()
    yield 1.0
    assert bpy.data.objects[name].jounce.preset == "Realistic"


def test_bake_and_free_bake(window):
    host = yield from one_click(window)
    preview = scenes.evaluated_frames(host, FRAMES)
    bake = window.buttons(BAKE, LARGE)[-1]
    yield from window.click(bake)
    yield lambda: host.data.shape_keys is not None and not window.is_running("JOUNCE_OT_bake")
    yield 0.5
    window.screenshot("mouse-baked")
    told = host.jounce.bake_error * np.linalg.norm(np.ptp([tuple(at) for at in host.bound_box], axis=0))
    assert distance(host, preview) < 1.001 * told, "the bake is further from the preview than it says"
    yield from window.click(icon(window, window.buttons(BAKE, LARGE)[-1], FREE))
    yield lambda: host.data.shape_keys is None
    # The bake had switched the preview off.
    yield lambda: host.jounce.preview
    yield 0.5
    yield from window.click(icon(window, window.buttons(POSE, LARGE)[0], POSE))
    yield lambda: not host.jounce.preview
    yield from window.click(icon(window, window.buttons(FLESH, LARGE)[0], FLESH))
    yield lambda: host.jounce.preview
    yield lambda: settled(host)
    assert distance(host, preview) < 1e-6
