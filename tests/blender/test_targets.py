"""Skinning nodes and mesh caches: their properties beside the common shape of all bakes."""

import os
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
import snapshot

FRAMES = range(1, 13)
TARGETS = ("SKINNING_NODES", "MESH_CACHE")


@pytest.fixture
def baked(tmp_path):
    """Makes a character in a saved file, baked to a target."""

    def bake(target, scale=1.0):
        obj, rig = scenes.character(scale)
        bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
        scenes.add_and_build(obj)
        bpy.ops.jounce.bake(target=target)
        return obj, rig

    return bake


def ours(obj):
    """The modifiers of Jounce on an object."""
    return [modifier for modifier in obj.modifiers if modifier.name.startswith("Jounce")]


def displayed(obj, frames):
    """World positions on frames in any order."""
    return [scenes.evaluated_frames(obj, range(frame, frame + 1))[0] for frame in frames]


@pytest.mark.parametrize("target", TARGETS)
def test_any_order_of_frames_shows_the_same_bits(baked, target):
    obj, _ = baked(target)
    forward = displayed(obj, FRAMES)
    backward = displayed(obj, reversed(FRAMES))[::-1]
    assert np.array_equal(forward, backward)


@pytest.mark.parametrize("target", TARGETS)
def test_it_is_steady_before_and_after_the_baked_frames(baked, target):
    obj, rig = baked(target)
    rig.animation_data_clear()
    bpy.context.view_layer.update()
    first, before = displayed(obj, (1, -5))
    last, after = displayed(obj, (12, 30))
    assert np.array_equal(first, before) and np.array_equal(last, after)


def test_between_frames_the_transforms_are_blended(baked):
    obj, rig = baked("SKINNING_NODES")
    rig.animation_data_clear()
    scene = bpy.context.scene
    five, six = displayed(obj, (5, 6))
    scene.frame_set(5, subframe=0.25)
    bpy.context.view_layer.update()
    assert np.abs(five - six).max() > 1e-3
    assert np.abs(scenes.evaluated(obj) - (0.75 * five + 0.25 * six)).max() < 1e-6


def test_the_displacement_stays_in_the_world_when_the_object_is_turned(baked):
    obj, rig = baked("SKINNING_NODES")
    bpy.context.scene.frame_set(6)
    modifier = ours(obj)[0]

    def displacement():
        bpy.context.view_layer.update()
        shown = scenes.evaluated(obj)
        modifier.show_viewport = False
        bpy.context.view_layer.update()
        plain = scenes.evaluated(obj)
        modifier.show_viewport = True
        return shown - plain

    before = displacement()
    rig.location, rig.rotation_euler, rig.scale = (2.0, -1.0, 3.0), (0.4, 1.0, -0.3), (0.5, 2.0, 1.5)
    assert np.abs(before).max() > 1e-3
    assert np.abs(displacement() - before).max() < 2e-6


def test_nodes_lose_no_digits_far_from_the_origin():
    obj, rig = scenes.character()
    rig.location = (3000.0, -2000.0, 500.0)
    bpy.context.view_layer.update()
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    assert obj.jounce.bake_error < 1e-6


@pytest.mark.parametrize("target", TARGETS)
def test_the_modifier_stands_right_after_the_armature(tmp_path, target):
    obj, _ = scenes.character()
    obj.modifiers.new("Cast", "CAST").factor = 0.0
    obj.modifiers.move(1, 0)
    obj.modifiers.new("Smooth", "SUBSURF").levels = 1
    obj.modifiers.active = obj.modifiers["Cast"]
    scenes.add_and_build(obj)
    obj.jounce.cache_folder = str(tmp_path)
    bpy.ops.jounce.bake(target=target)
    assert [modifier.name for modifier in obj.modifiers] == ["Cast", "Armature", "Jounce", "Smooth"]
    assert obj.modifiers.active.name == "Cast"


def test_nodes_keep_their_attributes_to_themselves(baked):
    obj, _ = baked("SKINNING_NODES")
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    assert any(name.startswith("jounce: ") for name in obj.data.attributes.keys())  # noqa: SIM118
    assert not any(name.startswith("jounce: ") for name in evaluated.attributes.keys())  # noqa: SIM118


def test_the_meshes_of_a_body_share_one_group():
    scenes.dressed()
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    assert len(bpy.data.node_groups) == 1 and bpy.data.node_groups[0].users >= 2
    bpy.ops.jounce.remove()
    assert len(bpy.data.node_groups) == 0


@pytest.mark.parametrize("first", (*TARGETS, "MODAL_KEYS"))
@pytest.mark.parametrize("second", (*TARGETS, "MODAL_KEYS"))
def test_one_bake_replaces_the_other(baked, first, second):
    obj, _ = baked(second)
    expected = displayed(obj, FRAMES)
    state = snapshot.file_state()
    bpy.ops.jounce.bake(target=first)
    bpy.ops.jounce.bake(target=second)
    assert snapshot.file_state() == state
    assert len(ours(obj)) == (0 if second == "MODAL_KEYS" else 1)
    assert np.array_equal(displayed(obj, FRAMES), expected)


@pytest.mark.parametrize("target", TARGETS)
def test_a_preview_is_not_baked_and_not_added_to_the_bake(baked, target):
    obj, _ = baked(target)
    expected = displayed(obj, FRAMES)
    bpy.ops.jounce.free_bake()
    bpy.ops.jounce.preview()
    assert np.abs(np.array(displayed(obj, FRAMES)) - expected).max() < 2e-6
    bpy.ops.jounce.bake(target=target)
    assert len(ours(obj)) == 1 and not obj.jounce.preview
    assert np.array_equal(displayed(obj, FRAMES), expected)
    with pytest.raises(RuntimeError, match="shows its bake"):
        bpy.ops.jounce.preview()


@pytest.mark.parametrize("target", TARGETS)
def test_a_muted_bake_can_be_freed(baked, target):
    obj, _ = baked(target)
    ours(obj)[0].show_viewport = ours(obj)[0].show_render = False
    bpy.ops.jounce.free_bake()
    assert ours(obj) == []
    assert not obj.jounce.bake_target


@pytest.mark.parametrize("target", TARGETS)
def test_a_copy_keeps_its_bake_when_the_original_is_freed(baked, target):
    obj, _ = baked(target)
    copy = obj.copy()
    copy.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(copy)
    expected = displayed(copy, FRAMES)
    scenes.activate(obj)
    bpy.ops.jounce.free_bake()
    assert np.array_equal(displayed(copy, FRAMES), expected)
    scenes.activate(copy)
    bpy.ops.jounce.free_bake()
    assert len(bpy.data.node_groups) == len(ours(copy)) == 0
    bpy.ops.wm.save_mainfile()
    assert not list(Path(bpy.data.filepath).parent.glob("*.pc2"))


def test_baking_the_original_again_leaves_the_cache_of_its_copy(baked):
    obj, rig = baked("MESH_CACHE")
    copy = obj.copy()
    copy.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(copy)
    expected = displayed(copy, FRAMES)
    obj.jounce.frequency = 2.0
    scenes.activate(obj)
    bpy.ops.jounce.bake(target="MESH_CACHE")
    assert np.array_equal(displayed(copy, FRAMES), expected)
    assert not np.array_equal(displayed(obj, FRAMES), expected)


def test_a_cache_in_an_unsaved_file_is_refused():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    with pytest.raises(RuntimeError, match="not saved yet"):
        bpy.ops.jounce.bake(target="MESH_CACHE")
    assert ours(obj) == []


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    (tmp_path / "file").touch()
    obj.jounce.cache_folder = str(tmp_path / "file" / "folder")
    with pytest.raises(RuntimeError, match="cannot be written"):
        bpy.ops.jounce.bake(target="MESH_CACHE")
    assert ours(obj) == []


def test_a_stopped_bake_leaves_the_earlier_cache_and_no_other_file(baked, module):
    obj, _ = baked("MESH_CACHE")
    folder = Path(bpy.data.filepath).parent
    before = {path: path.read_bytes() for path in folder.glob("*pc2*")}
    settings = obj.jounce.bake_settings("MESH_CACHE", 1, 12)
    task = module("ops.bake").bake_body(obj, bpy.context, settings, print)
    while not next(task).stage.startswith("Writing"):
        pass
    assert len(list(folder.glob("*pc2*"))) == 2
    task.close()
    assert {path: path.read_bytes() for path in folder.glob("*pc2*")} == before
    assert all(modifier.show_viewport for modifier in obj.modifiers)


def test_only_a_cache_that_this_file_made_is_deleted(baked, tmp_path):
    obj, _ = baked("MESH_CACHE")
    (cache,) = tmp_path.glob("*.pc2")
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other.blend"))
    bpy.ops.jounce.free_bake()
    assert cache.exists() and ours(obj) == []


def test_caches_are_named_after_the_file_and_the_object_and_relative(baked, tmp_path):
    obj, _ = baked("MESH_CACHE")
    assert ours(obj)[0].filepath == "//shot Column.pc2"
    data = (tmp_path / "shot Column.pc2").read_bytes()
    assert data[:12] == b"POINTCACHE2\0" and len(data) == 32 + 12 * len(FRAMES) * len(obj.data.vertices)


@pytest.mark.parametrize("target", TARGETS)
def test_the_saved_file_plays_without_the_extension(baked, tmp_path, target):
    obj, _ = baked(target)
    expected = displayed(obj, FRAMES)
    bpy.ops.wm.save_mainfile()
    shapes = tmp_path / "shapes.npz"
    program = str(Path(__file__).with_name("evaluate_shapes.py"))
    frames = ",".join(map(str, FRAMES))
    command = [sys.executable, program, bpy.data.filepath, str(shapes), frames, obj.name]
    environment = os.environ | {"BLENDER_USER_RESOURCES": str(tmp_path / "bare")}
    subprocess.run(command, env=environment, check=True)
    with np.load(shapes) as seen:
        for frame, shape in zip(FRAMES, expected, strict=True):
            assert np.abs(seen[str(frame)] - shape).max() < 1e-6
