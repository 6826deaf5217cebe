"""Baked bodies leave Blender through its exporters and return with the same shapes."""

import bpy
import exports
import numpy as np
import pytest
import scenes

FRAMES = range(1, 13)


def shapes(meshes):
    """World positions of all meshes on all frames."""
    return np.concatenate([scenes.evaluated_frames(mesh, FRAMES) for mesh in meshes], axis=1)


@pytest.fixture
def character():
    """A built character of two meshes with much motion."""
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    coat.parent = rig
    scenes.skin(coat, rig, 2.0)
    scenes.settle_scene()
    obj.jounce.frequency = 2.0
    for mesh in (obj, coat):
        mesh.data.shade_smooth()
    scenes.add_and_build(obj, coat)
    return obj, coat, rig


@pytest.mark.parametrize("name", exports.WAYS)
def test_the_same_shapes_come_back(character, tmp_path, name):
    obj, coat, rig = character
    way = exports.WAYS[name]
    posed = shapes((obj, coat))
    bpy.ops.jounce.bake(target=way.target)
    meshes, armature = exports.going_out(way.target, [obj, coat], rig)
    expected = shapes(meshes)
    assert np.abs(expected - posed).max() > 0.02, "the bake does not move enough to tell"
    scenes.activate(*meshes, armature)
    found = exports.there_and_back(way, str(tmp_path / f"body{way.suffix}"), shapes)
    assert exports.distance(found, expected) < 5e-6


def test_the_distance_tells_one_vertex_in_one_frame(character):
    expected = shapes(character[:2])
    moved = expected[:, ::-1].copy()
    assert exports.distance(moved, expected) == 0.0
    moved[3, 40, 1] += 0.01
    assert exports.distance(moved, expected) == pytest.approx(0.01)


def test_keys_of_a_bake_need_no_signs(character):
    obj, coat, _ = character
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        for mesh in (obj, coat):
            blocks = [block for block in mesh.data.shape_keys.key_blocks if block.name != "Basis"]
            assert blocks and all(0.0 <= block.value <= 1.0 for block in blocks)
            assert all((block.slider_min, block.slider_max) == (0.0, 1.0) for block in blocks)
