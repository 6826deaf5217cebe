"""A render shows finished bakes, writes to nothing, and reports missing bakes."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot


@pytest.fixture
def shot(tmp_path):
    """A character before a camera, rendered small."""
    obj, rig = scenes.character()
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.rotation_euler = (0.0, -6.0, 1.0), (np.pi / 2.0, 0.0, 0.0)
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.render.engine = "CYCLES"
    scene.cycles.samples = 1
    scene.render.film_transparent = True
    scene.render.resolution_x = scene.render.resolution_y = 48
    scene.render.filepath = str(tmp_path / "image.png")
    obj.jounce.cache_folder = str(tmp_path)
    obj.jounce.frequency = 2.0
    scenes.add_and_build(obj)
    return obj


def rendered():
    """The pixels of frame 7."""
    bpy.context.scene.frame_set(7)
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(bpy.context.scene.render.filepath)
    pixels = np.array(image.pixels)
    bpy.data.images.remove(image)
    return pixels


def test_whatever_is_baked_is_rendered(shot, capfd):
    plain = rendered()
    assert "Column has no bake" in capfd.readouterr().out
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    keys = rendered()
    assert np.abs(keys - plain).max() > 0.1
    for target in ("SKINNING_NODES", "MESH_CACHE"):
        bpy.ops.jounce.bake(target=target)
        assert np.abs(rendered() - keys).mean() < 1e-3
    assert "no bake" not in capfd.readouterr().out


@pytest.mark.parametrize("target", ["MODAL_KEYS", "SKINNING_NODES"])
def test_a_render_changes_nothing(shot, target):
    bpy.ops.jounce.bake(target=target)
    bpy.context.scene.frame_set(7)
    before = snapshot.snapshot(shot)
    rendered()
    assert snapshot.differences(before, snapshot.snapshot(shot)) == []


def test_one_click_bakes_what_is_missing_whatever_is_selected(shot, module):
    unbaked = module("bridge.bake.renders").unbaked
    other = scenes.column("Other")
    other.location.x = 3.0
    other.keyframe_insert("location", frame=1)
    scenes.add_and_build(other)
    bpy.ops.jounce.bake()
    error = other.jounce.bake_error
    assert unbaked(bpy.context.scene) == [shot]
    bpy.ops.object.select_all(action="DESELECT")
    bpy.context.view_layer.objects.active = None
    bpy.ops.jounce.bake(missing=True)
    assert unbaked(bpy.context.scene) == []
    assert tuple(shot.jounce.bake_range) == (1, 12)
    assert other.jounce.bake_error == error


def test_bodies_that_are_not_rendered_or_not_built_need_no_bake(shot, module):
    unbaked = module("bridge.bake.renders").unbaked
    assert unbaked(bpy.context.scene) == [shot]
    shot.hide_render = True
    assert unbaked(bpy.context.scene) == []
    shot.hide_render = False
    shot.jounce.built_digest = ""
    assert unbaked(bpy.context.scene) == []
