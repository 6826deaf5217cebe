"""The curve of a law in the sidebar: drawn with the mouse, noticed, told and undone."""

import importlib
import tempfile
from pathlib import Path

import bpy
import extension
import numpy as np
import scenes

# Colour of the line in the picture of stress on screen, and its tolerance.
TEAL, NEAR = np.array([64, 191, 179]), 40
# Distance of the widget's centre above the highest point of the line, and smallest height of the line.
ABOVE, HIGH = 119, 110


def session(obj):
    """The session of a previewed object."""
    return importlib.import_module(f"{extension.INSTALLED}.bridge.preview.previews").session(obj)


def stress_line(window):
    """Place of the stress line in the sidebar: (k, 2) rows and columns from the upper left corner.

    Icons have the same colour: the line is what hangs together over the most rows.
    """
    teal = np.argwhere(np.abs(window.sidebar_pixels().astype(int) - TEAL).max(axis=2) < NEAR)
    pieces = np.split(teal, np.flatnonzero(np.diff(teal[:, 0]) > 1) + 1)
    return max(pieces, key=len)


def shown(window):
    """Scrolls the sidebar until the whole picture is visible; returns its place."""
    for _ in range(60):
        found = stress_line(window)
        if len(found) and np.ptp(found[:, 0]) > HIGH:
            return found
        window.scroll_sidebar(1)
        yield 0.05
    raise AssertionError("the sidebar shows no picture of stress")


def test_a_law_is_drawn_with_the_mouse(window):
    with tempfile.TemporaryDirectory() as folder:
        obj, _ = scenes.character()
        bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / "shot.blend"))
        scenes.add_and_build(obj)
        obj.jounce.quality, obj.jounce.law = "FINAL", "spline"
        window.invoke("jounce.preview")
        yield lambda: session(obj) is not None and not session(obj).busy
        assert session(obj).status().split(".")[0] == "Final"
        window.open_panels("JOUNCE_PT_more", "JOUNCE_PT_motion")
        window.show_sidebar()
        line = yield from shown(window)
        before = obj.jounce.flesh().curve
        region = window.region("UI")
        at = (
            region.x + int(line[:, 1].mean()),
            region.y + region.height - int(line[:, 0].min()) + ABOVE,
        )
        window.move(*at)
        yield 0.2
        window.hold("LEFTMOUSE", "PRESS", at)
        yield 0.2
        yield from window.drag(at, (0, 60))
        window.hold("LEFTMOUSE", "RELEASE", (at[0], at[1] + 60))
        yield 0.3
        window.screenshot("law-drawn")
        assert np.abs(np.subtract(obj.jounce.flesh().curve, before)).max() > 0.5
        yield lambda: "The curve of the law falls" in session(obj).status()
        with window.context():
            bpy.ops.ed.undo()
        yield 0.3
        obj = bpy.data.objects["Column"]
        assert obj.jounce.flesh().curve == before
        yield lambda: session(obj) is not None and not session(obj).busy
        assert session(obj).status().split(".")[0] == "Final"
