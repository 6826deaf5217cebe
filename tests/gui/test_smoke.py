"""The whole way of a user in a real window: install, add, build, bake, undo, save, reopen, disable."""

import tempfile
from pathlib import Path

import bpy
import extension
import numpy as np
import scenes
import snapshot

BUILD, BAKE, FIT, FIX = (f"JOUNCE_OT_{name}" for name in ("build", "bake", "fit", "fix"))


def build_in_window(window, obj):
    """Add and build as the buttons do."""
    scenes.activate(obj)
    window.invoke("jounce.add")
    scenes.coarse(obj)
    window.invoke("jounce.build")
    yield lambda: not window.is_running(BUILD)
    assert obj.jounce.built_digest


def escape(window, operator):
    """Stops a modal operator."""
    window.press("ESC")
    yield lambda: not window.is_running(operator)


def stage_of(operator, window):
    """The stage of a modal operator."""
    running = next(running for running in window.handle.modal_operators if running.bl_idname == operator)
    return running._runner.step.stage


def state_of(obj):
    """All data in reach of a build or a bake, settings included."""
    jounce = snapshot.properties(obj.jounce)
    return snapshot.snapshot(obj), snapshot.file_state(), jounce


def baked_names(obj):
    """The shape keys added by a bake."""
    keys = obj.data.shape_keys
    names = [] if keys is None else keys.key_blocks.keys()
    return [name for name in names if name.startswith("jounce")]


def test_the_zip_is_installed_and_enabled(window):
    assert extension.INSTALLED in bpy.context.preferences.addons
    assert not bpy.app.background


def test_escape_stops_a_build_and_nothing_is_changed(window):
    obj, _ = scenes.character()
    scenes.activate(obj)
    window.invoke("jounce.add")
    obj.jounce.resolution, obj.jounce.modes = 64, 40
    before = state_of(obj)
    window.invoke("jounce.build")
    assert window.is_running(BUILD)
    yield 0.1
    yield from escape(window, BUILD)
    assert state_of(obj) == before


def test_escape_stops_a_bake_and_nothing_is_changed(window):
    obj, _ = scenes.character()
    yield from build_in_window(window, obj)
    scenes.settle_scene(end=2000)
    before = state_of(obj)
    window.invoke("jounce.bake")
    yield 0.5
    assert window.is_running(BAKE)
    yield from escape(window, BAKE)
    assert state_of(obj) == before


def test_escape_stops_the_search_for_a_frequency(window):
    obj, _ = scenes.character()
    yield from build_in_window(window, obj)
    scenes.settle_scene(end=3000)
    obj.jounce.amount, obj.jounce.substeps = 0.1, 16
    before = state_of(obj)
    window.invoke("jounce.fit")
    yield lambda: stage_of(FIT, window) == "Fitting"
    yield from escape(window, FIT)
    assert state_of(obj) == before


def test_a_fix_that_builds_is_one_step_and_escape_takes_all_of_it_back(window):
    obj, rig = scenes.character()
    yield from build_in_window(window, obj)
    hat, name = scenes.column("Hat", radius=0.2), obj.name
    scenes.hang(hat, rig)
    scenes.activate(obj)
    window.invoke("jounce.diagnose")
    assert [found.fix for found in obj.jounce.findings] == ["add_to_body"]
    obj.jounce.resolution, obj.jounce.modes = 64, 40
    with window.context():
        bpy.ops.ed.undo_push(message="before the fix")
    before = state_of(obj)
    window.invoke("jounce.fix", index=0)
    assert window.is_running(FIX)
    yield lambda: stage_of(FIX, window).startswith("Building")
    yield from escape(window, FIX)
    assert state_of(obj) == before and not hat.is_property_set("jounce")
    assert [found.fix for found in obj.jounce.findings] == ["add_to_body"]

    window.invoke("jounce.fix", index=0)
    yield lambda: not window.is_running(FIX)
    assert hat.jounce.host == obj and len(obj.jounce.findings) == 0
    yield 0.2
    window.press("Z", ctrl=True)
    yield lambda: not bpy.data.objects["Hat"].is_property_set("jounce")
    obj = bpy.data.objects[name]
    assert snapshot.properties(obj.jounce) == before[2]
    assert [found.fix for found in obj.jounce.findings] == ["add_to_body"]


def test_escape_stops_the_fit_of_helper_bones(window):
    obj, _ = scenes.character()
    yield from build_in_window(window, obj)
    scenes.settle_scene(end=600)
    obj.jounce.helper_count = 64
    before = state_of(obj)
    window.invoke("jounce.bake", target="HELPER_BONES")
    yield lambda: stage_of(BAKE, window) == "Fitting: helper bones"
    yield from escape(window, BAKE)
    assert state_of(obj) == before


def test_bake_undo_redo_save_and_reopen(window):
    obj, _ = scenes.character()
    yield from build_in_window(window, obj)
    name, frames = obj.name, range(1, 13)
    with window.context():
        bpy.ops.ed.undo_push(message="before the bake")
    plain = scenes.evaluated_frames(obj, frames)
    window.invoke("jounce.bake")
    yield lambda: not window.is_running(BAKE)
    baked, keys = scenes.evaluated_frames(obj, frames), baked_names(obj)
    assert keys and np.abs(baked - plain).max() > 0.01
    yield 0.2

    window.press("Z", ctrl=True)
    yield lambda: not baked_names(bpy.data.objects[name])
    assert np.array_equal(scenes.evaluated_frames(bpy.data.objects[name], frames), plain)
    window.press("Z", ctrl=True, shift=True)
    yield lambda: baked_names(bpy.data.objects[name]) == keys
    assert np.array_equal(scenes.evaluated_frames(bpy.data.objects[name], frames), baked)

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "shot.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        yield 0.2
        assert np.array_equal(scenes.evaluated_frames(bpy.data.objects[name], frames), baked)
        assert bpy.data.objects[name].jounce.built_digest


def test_panels_are_drawn(window):
    obj, _ = scenes.character()
    yield from build_in_window(window, obj)
    without = window.view_pixels()
    window.show_sidebar()
    yield 0.2
    assert window.region("UI").width > 1
    assert (window.view_pixels() != without).any()
    window.screenshot("panels")


def test_disabling_leaves_no_handlers(window):
    bpy.ops.preferences.addon_disable(module=extension.INSTALLED)
    assert not hasattr(bpy.types.Object, "jounce")
    assert not ours(bpy.app.handlers)
    bpy.ops.preferences.addon_enable(module=extension.INSTALLED)
    assert hasattr(bpy.types.Object, "jounce")
    yield 0.1


def ours(handlers):
    """Handlers of the extension."""
    lists = [getattr(handlers, name) for name in dir(handlers)]
    functions = [function for entry in lists if isinstance(entry, list) for function in entry]
    return [function for function in functions if function.__module__.startswith(extension.INSTALLED)]
