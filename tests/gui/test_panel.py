"""The panel after one click: five elements without scrolling, in English and German, and their effects."""

import importlib
import sys
from pathlib import Path

import bpy
import extension
import numpy as np
import scenes
from window import Skip

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import creature

LANGUAGES = {"english": ("en_US",), "german": ("de", "de_DE")}
FRAMES = range(1, 20)
# Place of a line through the ends of the amounts in the list of parts, as a share of the sidebar's width, and
# the heights of these sliders in pixels.
AMOUNTS, ROW = 0.42, range(15, 22)


def one_click(window):
    """The creature, with Jounce added by the button; yields the host."""
    built = creature.build()
    bpy.context.scene.frame_end = 60
    window.look_at(built.body)
    scenes.activate(built.armature)
    window.show_sidebar()
    window.invoke("jounce.setup")
    yield lambda: not window.is_running("JOUNCE_OT_setup")
    yield lambda: settled(built.body)
    return built.body


def session(host):
    """The session of a previewed body."""
    return importlib.import_module(f"{extension.INSTALLED}.bridge.preview.previews").session(host)


def settled(host):
    """True once the preview of a body is complete."""
    known = session(host)
    return known is not None and known.complete and not known.busy


def at_header(window):
    """A place in the header of the sidebar's first panel."""
    sidebar = window.region("UI")
    return sidebar.x + sidebar.width // 2, sidebar.y + sidebar.height - 60


def test_five_things_stand_above_the_fold(window):
    host = yield from one_click(window)
    preferences = bpy.context.preferences.view
    known = {item.identifier for item in preferences.bl_rna.properties["language"].enum_items}
    preferences.use_translate_interface = preferences.use_translate_tooltips = True
    for name, codes in LANGUAGES.items():
        language = next((code for code in codes if code in known), None)
        if language is None:
            raise Skip("this Blender was built without other languages")
        preferences.language = language
        window.region("UI").tag_redraw()
        yield 0.5
        window.screenshot(f"panel-{name}")
        header = at_header(window)
        window.move(*header)
        yield 0.3
        above = window.sidebar_pixels()
        for _ in range(20):
            window.press("WHEELDOWNMOUSE", header)
        yield 0.5
        assert np.array_equal(window.sidebar_pixels(), above), "the panel is taller than its region"
    preferences.language = "en_US"
    scenes.activate(host)
    yield 0.3
    window.screenshot("panel-mesh")


def test_two_drags_give_more_belly_and_less_chest(window):
    host = yield from one_click(window)
    parts, rows = host.jounce.parts, window.buttons(AMOUNTS, ROW)
    assert len(rows) == len(parts) and parts.keys()[:2] == ["belly", "chest"]
    belly, chest = rows[:2]
    yield from window.pull(belly, (40, 0))
    yield from window.pull(chest, (-30, 0))
    assert parts["belly"].amount > 1.2 and parts["chest"].amount < 0.8
    assert all(part.amount == 1.0 for part in parts if part.name not in ("belly", "chest"))
    yield lambda: settled(host)
    window.screenshot("panel-dragged")


def test_more_belly_less_chest(window):
    host = yield from one_click(window)
    parts = host.jounce.parts
    before = scenes.evaluated_frames(host, FRAMES)
    parts["belly"].amount, parts["chest"].amount = 2.0, 0.3
    bpy.context.view_layer.update()
    yield lambda: not settled(host)
    yield lambda: settled(host)
    assert np.abs(scenes.evaluated_frames(host, FRAMES) - before).max() > 1e-3
    bpy.context.scene.frame_set(12)
    parts["belly"].softness = 2.0
    yield lambda: session(host).status().startswith("Building")
    assert np.abs(session(host).display.offsets).max() > 1e-3, "the pose alone is shown during a build"
    yield lambda: settled(host)
    parts["belly"].shown = True
    window.redraw()
    yield 0.3
    window.screenshot("panel-belly")
    parts["belly"].shown = False
    rig = bpy.context.view_layer.objects.active
    bpy.ops.object.mode_set(mode="POSE")
    scenes.select_bones(rig, *parts["tail"].bones.split("\n"))
    window.region("UI").tag_redraw()
    yield 0.3
    window.screenshot("panel-bones")
    bpy.ops.object.mode_set(mode="OBJECT")
