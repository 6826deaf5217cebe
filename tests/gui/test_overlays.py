"""False colours and lines over the render mesh on the screen."""

import importlib

import bpy
import extension
import numpy as np
import scenes


def session(obj):
    """The session of a previewed object."""
    return importlib.import_module(f"{extension.INSTALLED}.bridge.preview.previews").session(obj)


def shown(window):
    """A built character in a calm viewport, and its overlay settings."""
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    rig.hide_set(True)
    window.calm()
    window.look_at(obj)
    scenes.activate(obj)
    return obj, bpy.context.window_manager.jounce


def changed(before, after):
    """Different pixels, (height, width) bool."""
    return (np.abs(before.astype(int) - after).max(axis=2)) > 8


def test_every_field_is_drawn_and_gone_again(window):
    _, settings = shown(window)
    plain = window.view_pixels()
    pictures = {}
    for field in ("WEIGHTS", "CLUSTERS", "LEAK", "STIFFNESS", "STRETCH", "VELOCITY"):
        settings.field = field
        pictures[field] = window.view_pixels()
        assert changed(plain, pictures[field]).mean() > 0.01, field
        window.screenshot(f"overlay-{field.lower()}")
    settings.field = "NONE"
    assert not changed(plain, window.view_pixels()).any()
    yield 0.1


def test_colours_are_those_of_the_values(window):
    """The fields of a uniformly stiff body have one colour, up to shading."""
    obj, settings = shown(window)
    settings.field = "STIFFNESS"
    pixels = window.view_pixels()
    height, width = pixels.shape[:2]
    middle = pixels[height // 2 - 20 : height // 2 + 20, width // 2 - 10 : width // 2 + 10].reshape(-1, 3)
    colour = middle.mean(axis=0) / middle.mean(axis=0).max()
    assert np.allclose(colour, np.array([0.13, 0.56, 0.55]) / 0.56, atol=0.06), colour
    assert middle.mean() > 60.0
    obj.hide_set(True)
    hidden = window.view_pixels()[height // 3 : height // 2, width // 2 - 10 : width // 2 + 10]
    assert np.ptp(hidden.reshape(-1, 3).mean(axis=1)) < 60.0
    yield 0.1


def test_lines_are_drawn_over_the_posed_body(window):
    obj, settings = shown(window)
    plain = window.view_pixels()
    for name in ("cage", "embedding"):
        setattr(settings, name, True)
        assert changed(plain, window.view_pixels()).mean() > 0.0003, name
        window.screenshot(f"overlay-{name}")
        setattr(settings, name, False)
    assert not changed(plain, window.view_pixels()).any()
    yield 0.1


def test_stitches_are_drawn_and_gone_again(window):
    """A seam from the low end of the column to the high one, visible through the column."""
    obj, settings = shown(window)
    heights = np.array([vertex.co.z for vertex in obj.data.vertices])
    for name, chosen in (("Low", heights == heights.min()), ("High", heights == heights.max())):
        obj.vertex_groups.new(name=name).add(np.flatnonzero(chosen).tolist(), 1.0, "REPLACE")
    settings.show_seams = False
    plain = window.view_pixels()
    bpy.ops.jounce.stitch_groups(group_a="Low", group_b="High")
    settings.show_seams = True
    held = window.view_pixels()
    assert changed(plain, held).mean() > 0.0003
    window.screenshot("overlay-stitches")
    obj.jounce.seams[0].use = False
    assert changed(held, window.view_pixels()).any()
    settings.show_seams = False
    assert not changed(plain, window.view_pixels()).any()
    settings.show_seams = True
    bpy.ops.jounce.stitch_remove()
    assert not changed(plain, window.view_pixels()).any()
    yield 0.1


def test_modifiers_that_add_vertices_are_coloured_too(window):
    obj, settings = shown(window)
    obj.modifiers.new("Subdivision", "SUBSURF").levels = 2
    plain = window.view_pixels()
    for field in ("WEIGHTS", "STRETCH", "VELOCITY"):
        settings.field = field
        assert changed(plain, window.view_pixels()).mean() > 0.01, field
    obj.modifiers.new("Decimate", "DECIMATE").ratio = 0.05
    settings.field = "LEAK"
    window.redraw()
    yield 0.1


def test_moving_fields_follow_the_frames(window):
    obj, settings = shown(window)
    scene = bpy.context.scene
    for field in ("STRETCH", "VELOCITY"):
        settings.field = field
        still = window.view_pixels()
        scene.frame_set(4)
        scene.frame_set(5)
        window.redraw()
        scene.frame_set(6)
        assert changed(still, window.view_pixels()).mean() > 0.01
        window.screenshot(f"overlay-{field.lower()}-moving")
        scene.frame_set(1)
    yield 0.1


def test_skin_in_a_collider_is_coloured_and_other_skin_is_not(window):
    """A column that stands in a box up to its middle, during a preview."""
    obj, settings = shown(window)
    corners = [(x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 0.0)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    box = scenes.mesh_object("Box", corners, faces)
    box.location.z = 0.5 * obj.dimensions.z
    box.display_type = "WIRE"
    collection = bpy.data.collections.new("Set")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(box)
    obj.jounce.quality, obj.jounce.use_collisions = "FINAL", True
    obj.jounce.collision_collection = collection
    scenes.activate(obj)
    settings.show_penetration = True
    dark = window.view_pixels()
    window.invoke("jounce.preview")
    yield lambda: session(obj) is not None and not session(obj).busy
    pixels = window.view_pixels()
    window.screenshot("overlay-penetration")
    height, width = pixels.shape[:2]
    column = changed(dark, pixels)[:, width // 2 - 40 : width // 2 + 40]
    low, high = column[: height // 2].mean(), column[height // 2 :].mean()
    assert min(low, high) < 0.5 * max(low, high), (low, high)
    assert max(low, high) > 0.02, (low, high)
    window.invoke("jounce.preview")


def test_nothing_stays_when_the_extension_is_disabled(window):
    _, settings = shown(window)
    plain = window.view_pixels()
    settings.field, settings.cage = "CLUSTERS", True
    assert changed(plain, window.view_pixels()).any()
    bpy.ops.preferences.addon_disable(module=extension.INSTALLED)
    assert not changed(plain, window.view_pixels()).any()
    bpy.ops.preferences.addon_enable(module=extension.INSTALLED)
    yield 0.1


def test_a_new_file_begins_without_overlays(window):
    _, settings = shown(window)
    settings.field = "LEAK"
    window.redraw()
    bpy.ops.wm.read_homefile(use_factory_startup=True)
    yield 0.1
    assert bpy.context.window_manager.jounce.field == "NONE"
    window.redraw()


def test_colliders_are_drawn_and_gone_again(window):
    obj, settings = shown(window)
    bpy.ops.jounce.ground()
    collection = obj.jounce.collision_collection
    collection.objects[0].hide_set(True)
    plain = window.view_pixels()
    settings.show_colliders = True
    assert changed(plain, window.view_pixels()).mean() > 0.0003
    window.screenshot("overlay-colliders")
    settings.show_colliders = False
    assert not changed(plain, window.view_pixels()).any()
    yield 0.1
