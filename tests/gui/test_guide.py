"""The pictures of the user guide: our own creature with panels, overlays and in motion.

`cargo x pictures` takes the WebP files from here.
"""

import importlib
import sys
from pathlib import Path

import bpy
import extension
import numpy as np
import scenes
from test_panel import one_click

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import creature

FRAME = 21


def dressed(window):
    """The creature, previewed with a full cache, in a viewport with its colours."""
    built = creature.build()
    body = built.body
    bpy.context.scene.frame_end = 60
    built.armature.hide_set(True)
    scenes.activate(body, *built.parts)
    bpy.ops.jounce.add()
    for name, value in creature.FLESH.items():
        setattr(body.jounce, name, value)
    bpy.ops.jounce.build()
    if not body.jounce.preview:
        bpy.ops.jounce.preview()
    preview = importlib.import_module(f"{extension.INSTALLED}.bridge.preview.previews")
    yield lambda: preview.session(body) is not None
    session = preview.session(body)
    yield lambda: session.complete and not session.busy
    window.calm()
    space = window.viewport.spaces[0]
    space.shading.color_type = "VERTEX"
    window.look_at(body)
    # Room for its jumps.
    space.region_3d.view_location.z += 0.12
    bpy.context.scene.frame_set(FRAME)
    scenes.activate(body)
    return body


def test_panels(window):
    yield from one_click(window)
    window.viewport.spaces[0].shading.color_type = "VERTEX"
    bpy.context.scene.frame_set(FRAME)
    yield 0.5
    window.screenshot("guide-panels")
    window.montage("panels", [[("guide-panels", "1050x692+0+84")]], "100%")


def test_overlays(window):
    body = yield from dressed(window)
    settings = bpy.context.window_manager.jounce
    plain = window.view_pixels()
    for field in ("WEIGHTS", "CLUSTERS", "LEAK", "STRETCH", "VELOCITY"):
        settings.field = field
        body.jounce.mode_index = 3
        window.redraw()
        bpy.context.scene.frame_set(FRAME - 1)
        window.redraw()
        bpy.context.scene.frame_set(FRAME)
        assert (np.abs(window.view_pixels().astype(int) - plain).max(axis=2) > 8).mean() > 0.02, field
        window.picture(f"guide-{field.lower()}")
    settings.field = "NONE"
    settings.cage = True
    window.picture("guide-cage")
    rows = [["guide-weights", "guide-clusters"], ["guide-stretch", "guide-cage"]]
    window.montage("overlays", [[(name, "690x540+70+150") for name in row] for row in rows], "60%")


def test_motion(window):
    body = yield from dressed(window)
    shapes = []
    frames = (12, 17, 21, 26)
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        shapes.append(scenes.evaluated(body))
        window.picture(f"guide-motion-{frame}")
    assert len({shape.tobytes() for shape in shapes}) == 4
    window.montage("preview", [[(f"guide-motion-{frame}", "480x640+285+45") for frame in frames]], "60%")
