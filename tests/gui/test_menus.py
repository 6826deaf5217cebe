"""Every panel and menu drawn in the window, for pictures to look at; one that fails shows on the console."""

import importlib

import bpy
import extension
import scenes

STATES = ("FREQUENCY", "PHYSICAL")
MENUS = ("JOUNCE_MT_materials", "JOUNCE_MT_regions", "JOUNCE_MT_map_stiffness")
TARGETS = ("MODAL_KEYS", "MESH_CACHE", "HELPER_BONES")
LANGUAGES = ("de", "de_DE")


def opened():
    """Registers all panels anew, none of them closed."""
    classes = importlib.import_module(f"{extension.INSTALLED}.panels").CLASSES
    panels = [cls for cls in classes if issubclass(cls, bpy.types.Panel)]
    for cls in reversed(panels):
        bpy.utils.unregister_class(cls)
    for cls in panels:
        cls.bl_options = set(getattr(cls, "bl_options", ())) - {"DEFAULT_CLOSED"}
        bpy.utils.register_class(cls)


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


def pages(window, name, count=3):
    """Pictures of the sidebar from top to bottom."""
    window.scroll_sidebar(-60)
    yield 0.3
    for page in range(count):
        window.screenshot(f"{name}-{page + 1}")
        window.scroll_sidebar(12)
        yield 0.3


def test_before_anything_is_added(window):
    opened()
    _, rig = scenes.character()
    scenes.activate(rig)
    window.show_sidebar()
    yield 0.3
    window.screenshot("menus-bare")


def test_all_panels(window):
    obj, rig = character(window)
    bpy.ops.jounce.diagnose()
    obj.vertex_groups.new(name="Soft")
    obj.jounce.stiffness_group = obj.jounce.leak_group = "Soft"
    for state in STATES:
        obj.jounce.stiffness_by = state
        yield from pages(window, f"menus-{state.lower()}")
    scenes.activate(rig)
    yield from pages(window, "menus-armature", 1)


def test_bakes(
    window,
):
    obj, _ = character(window)
    for target in TARGETS:
        obj.jounce.target = target
        obj.jounce.cache_folder = "/tmp"
        bpy.ops.jounce.bake(target=target)
        yield from pages(window, f"menus-{target.lower()}", 4)


def test_menus_that_open(window):
    character(window)
    for menu in MENUS:
        with window.context():
            bpy.ops.wm.call_menu(name=menu)
        yield 0.4
        window.screenshot(menu.replace("JOUNCE_MT_", "menus-open-"))
        window.press("ESC")
        yield 0.2


def test_german(window):
    preferences = bpy.context.preferences.view
    known = {item.identifier for item in preferences.bl_rna.properties["language"].enum_items}
    language = next((name for name in LANGUAGES if name in known), None)
    if language is None:
        return
    preferences.language = language
    preferences.use_translate_interface = preferences.use_translate_tooltips = True
    character(window)
    yield from pages(window, "menus-german")
    preferences.language = "en_US"
