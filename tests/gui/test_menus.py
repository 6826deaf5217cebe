"""Every panel, menu and list drawn to its end in the window, in English and German, with pictures."""

import importlib

import bpy
import extension
import numpy as np
import scenes
from window import Skip

STATES = ("FREQUENCY", "PHYSICAL")
MENUS = ("JOUNCE_MT_materials", "JOUNCE_MT_bodies", "JOUNCE_MT_part_add", "JOUNCE_MT_map_stiffness")
TARGETS = ("MODAL_KEYS", "MESH_CACHE", "HELPER_BONES")
LANGUAGES = ("de", "de_DE")
# The panel without a body, and the panels with a body.
MAIN, OTHERS = (
    "JOUNCE_PT_main",
    frozenset(
        f"JOUNCE_PT_{name}"
        for name in (
            "more",
            "diagnosis",
            "inside",
            "parts",
            "build",
            "maps",
            "stitches",
            "motion",
            "shot",
            "preview",
            "bake",
            "overlay",
            "clips",
        )
    ),
)

# Names of the completely drawn classes since the last clearing.
_drawn: set[str] = set()


def classes(kind):
    """The registered panels, menus or lists of the extension."""
    known = importlib.import_module(f"{extension.INSTALLED}.panels").CLASSES
    return [cls for cls in known if issubclass(cls, kind)]


def noting(cls):
    """Notes the end of a class's drawing function; Blender counts its arguments."""
    name = "draw_item" if issubclass(cls, bpy.types.UIList) else "draw"
    function = getattr(cls, name)

    def draw(self, context):
        function(self, context)
        _drawn.add(cls.__name__)

    def draw_item(self, context, layout, data, item, icon, active, prop, index):
        function(self, context, layout, data, item, icon, active, prop, index)
        _drawn.add(cls.__name__)

    setattr(cls, name, draw_item if name == "draw_item" else draw)


def watched(window):
    """Opens all panels, and notes drawn classes from now on."""
    window.open_panels()
    panels = classes(bpy.types.Panel)
    lists = [cls for cls in classes(bpy.types.UIList) if "draw_item" in vars(cls)]
    for cls in (*panels, *classes(bpy.types.Menu), *lists):
        noting(cls)


def character(window):
    """A built character with the preview on."""
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    if not obj.jounce.preview:
        bpy.ops.jounce.preview()
    window.look_at(obj)
    window.show_sidebar()
    window.region("UI").tag_redraw()
    return obj, rig


def pages(window, name, count=10):
    """Pictures of the sidebar from top to bottom."""
    window.scroll_sidebar(-60)
    yield 0.3
    for page in range(count):
        window.screenshot(f"{name}-{page + 1}")
        window.scroll_sidebar(12)
        yield 0.3


def test_before_anything_is_added(window):
    watched(window)
    _, rig = scenes.character()
    scenes.activate(rig)
    window.show_sidebar()
    yield 0.3
    window.screenshot("menus-bare")
    assert _drawn == {MAIN}


def test_all_panels(window):
    obj, rig = character(window)
    bpy.ops.jounce.diagnose()
    obj.vertex_groups.new(name="Soft")
    obj.jounce.stiffness_group = obj.jounce.leak_group = "Soft"
    for state in STATES:
        obj.jounce.stiffness_by = state
        _drawn.clear()
        yield from pages(window, f"menus-{state.lower()}")
        assert {MAIN, "JOUNCE_UL_modes", *OTHERS} <= _drawn
    scenes.activate(rig)
    _drawn.clear()
    yield from pages(window, "menus-armature", 1)
    assert {MAIN, *OTHERS} <= _drawn


def test_seams_and_clips_are_listed(window):
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    scenes.skin(coat, rig, 2.0)
    scenes.add_and_build(obj, coat)
    scenes.activate(obj, coat)
    bpy.ops.jounce.stitch_nearest(distance=10.0)
    bpy.context.scene.jounce.clips.add().name = "walk.fbx"
    window.show_sidebar()
    _drawn.clear()
    yield from pages(window, "menus-lists")
    assert {"JOUNCE_UL_seams", "JOUNCE_PT_clips"} <= _drawn


def test_bakes(window):
    obj, _ = character(window)
    for target in TARGETS:
        obj.jounce.target = target
        obj.jounce.cache_folder = "/tmp"
        bpy.ops.jounce.bake(target=target)
        assert obj.jounce.bake_parts
        _drawn.clear()
        yield from pages(window, f"menus-{target.lower()}", 4)
        assert "JOUNCE_PT_bake" in _drawn


def test_menus_that_open(window):
    character(window)
    for menu in MENUS:
        _drawn.clear()
        with window.context():
            bpy.ops.wm.call_menu(name=menu)
        yield 0.4
        window.screenshot(menu.replace("JOUNCE_MT_", "menus-open-"))
        assert menu in _drawn
        window.press("ESC")
        yield 0.2


def test_what_a_button_cannot_do_is_grey(window):
    # *Remove from Body* is grey for the host alone, and lights up once another mesh of the body is selected.
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    scenes.skin(coat, rig, 2.0)
    scenes.add_and_build(obj, coat)
    scenes.activate(obj)
    window.show_sidebar()
    window.scroll_sidebar(-60)
    yield 0.3
    grey = window.sidebar_pixels()
    coat.select_set(True)
    window.region("UI").tag_redraw()
    yield 0.3
    assert (window.sidebar_pixels() != grey).any()
    coat.select_set(False)
    window.region("UI").tag_redraw()
    yield 0.3
    assert np.array_equal(window.sidebar_pixels(), grey)


def test_german(window):
    preferences = bpy.context.preferences.view
    known = {item.identifier for item in preferences.bl_rna.properties["language"].enum_items}
    language = next((name for name in LANGUAGES if name in known), None)
    if language is None:
        raise Skip("this Blender was built without other languages")
    character(window)
    window.scroll_sidebar(-60)
    yield 0.3
    english = window.sidebar_pixels()
    preferences.language = language
    preferences.use_translate_interface = preferences.use_translate_tooltips = True
    translated = bpy.app.translations.pgettext_iface
    assert translated("Bake", "Jounce") == "Backen"
    assert translated("Remove from Body", "Jounce") == "Aus dem Körper nehmen"
    _drawn.clear()
    window.region("UI").tag_redraw()
    yield 0.3
    assert (window.sidebar_pixels() != english).any()
    yield from pages(window, "menus-german")
    assert {MAIN, *OTHERS} <= _drawn
    preferences.language = "en_US"
