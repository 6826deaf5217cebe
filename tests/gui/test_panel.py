"""The panel after one click: five things without scrolling, in English and German, and how they act."""

import os
from pathlib import Path

import bpy
import numpy as np
import scenes
from window import Skip

FILE = "mixamo/xbot_samba.fbx"
LANGUAGES = {"english": ("en_US",), "german": ("de", "de_DE")}


def one_click(window):
    """A character as imported, given Jounce by its button; yields its host."""
    path = Path(os.environ.get("JOUNCE_DATA", "/nowhere")) / FILE
    if not path.exists():
        raise Skip("JOUNCE_DATA is not set")
    with window.context():
        bpy.ops.import_scene.fbx(filepath=str(path))
    scene = bpy.context.scene
    scene.frame_end = scene.frame_start + 40
    meshes = [obj for obj in scene.objects if obj.type == "MESH"]
    window.look_at(max(meshes, key=lambda mesh: len(mesh.data.vertices)))
    rig = next(obj for obj in scene.objects if obj.type == "ARMATURE")
    scenes.activate(rig)
    window.show_sidebar()
    window.invoke("jounce.setup")
    yield lambda: not window.is_running("JOUNCE_OT_setup")
    host = next(mesh for mesh in meshes if mesh.jounce.is_host)
    yield lambda: settled(host)
    return host


def settled(host):
    """True once the preview of a body is complete."""
    import importlib

    import extension

    known = importlib.import_module(f"{extension.INSTALLED}.bridge.preview.previews").session(host)
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
