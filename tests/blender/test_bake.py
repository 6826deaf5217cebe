"""Armature and baked keys together make the simulated shape, and play without the extension."""

import os
import subprocess
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
import recordings
import scenes
import snapshot
from mathutils import Vector
from matrices import crossed

FRAMES = range(1, 13)
TARGETS = ("FRAME_KEYS", "MODAL_KEYS", "SKINNING_NODES", "MESH_CACHE")


@pytest.fixture
def simulated(module, tmp_path):
    """Expected result of the bake: for each mesh its posed vertices plus their displacement, (f, p, 3)."""

    def simulate(host):
        host.jounce.cache_folder = str(tmp_path)
        scene, body, motion = recordings.recorded(module, host, FRAMES)
        moved = np.stack([body.model.displacement(z, body.embedding) for z in motion.coefficients])
        scale = bpy.context.scene.unit_settings.scale_length
        expected = {}
        for obj, part in zip(scene.objects, scene.surface.parts, strict=True):
            expected[obj.name] = scenes.evaluated_frames(obj, FRAMES) + moved[:, part.points] / scale
        return expected, np.abs(moved).max() / scene.surface.diagonal, scene.surface.diagonal / scale

    return simulate


def assert_baked(host, simulated, target):
    """Bakes a built body; the evaluated meshes are the simulated ones, to the stated errors."""
    expected, amplitude, size = simulated(host)
    assert amplitude > 0.002, "the scene does not move enough to tell"
    scenes.activate(host)
    bpy.ops.jounce.bake(target=target, frame_start=FRAMES.start, frame_end=FRAMES.stop - 1)
    allowed = host.jounce.bake_error + 1e-5 if target == "MODAL_KEYS" else 1e-5
    for name, shapes in expected.items():
        error = np.abs(scenes.evaluated_frames(bpy.data.objects[name], FRAMES) - shapes).max()
        assert error < allowed * size
    assert host.jounce.bake_error <= 0.002


@pytest.mark.parametrize(("scale", "target"), crossed([0.01, 1.0, 100.0], TARGETS))
def test_armature_scales(simulated, scale, target):
    obj, _ = scenes.character(scale)
    scenes.add_and_build(obj)
    assert_baked(obj, simulated, target)


@pytest.mark.parametrize("target", TARGETS)
def test_turned_and_mirrored_mesh_in_centimetres(simulated, target):
    obj, rig = scenes.character()
    bpy.context.scene.unit_settings.scale_length = 0.01
    obj.matrix_local = scenes.placed(Vector((0.1, -0.2, 0.3)), 0.7, (-1.1, 0.9, 1.2))
    bpy.context.view_layer.update()
    scenes.add_and_build(obj)
    assert_baked(obj, simulated, target)


@pytest.mark.parametrize("target", TARGETS)
def test_several_meshes_as_one_body(simulated, target):
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    coat.parent = rig
    scenes.skin(coat, rig, 2.0)
    eye = scenes.column("Eye", 0.1, 0.1, 2, 6)
    eye.parent, eye.parent_type, eye.parent_bone = rig, "BONE", "Upper"
    eye.location.y = -0.3
    scenes.settle_scene()
    scenes.add_and_build(obj, coat, eye)
    assert_baked(obj, simulated, target)


@pytest.mark.parametrize("target", TARGETS)
def test_an_armature_that_preserves_volume(simulated, target):
    obj, rig = scenes.character()
    obj.modifiers["Armature"].use_deform_preserve_volume = True
    bone = rig.pose.bones["Upper"]
    for frame, twist, stretch in ((1, 0.0, 1.0), (5, 2.5, 1.4), (8, 1.0, 0.9)):
        bone.rotation_euler.y, bone.scale = twist, (1.0 / stretch, stretch, 1.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
        bone.keyframe_insert("scale", frame=frame)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    assert_baked(obj, simulated, target)


@pytest.mark.parametrize(("setting", "value"), [("poisson", 0.45), ("integrator", "bdf2")])
def test_settings_of_the_flesh_reach_its_motion(simulated, setting, value):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    before = simulated(obj)[0][obj.name]
    setattr(obj.jounce, setting, value)
    bpy.ops.jounce.build()
    after, _, size = simulated(obj)
    assert np.abs(after[obj.name] - before).max() > 1e-4 * size
    assert_baked(obj, simulated, "FRAME_KEYS")


def test_a_body_without_armature(simulated):
    obj = scenes.column()
    for frame, x in ((1, 0.0), (4, 1.0), (6, 1.0)):
        obj.location.x = x
        obj.rotation_euler.y = x
        obj.keyframe_insert("location", frame=frame)
        obj.keyframe_insert("rotation_euler", frame=frame)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    assert_baked(obj, simulated, "FRAME_KEYS")


@pytest.mark.parametrize("target", TARGETS)
def test_on_top_of_existing_shape_keys(simulated, target):
    obj, _ = scenes.character()
    add_artists_keys(obj)
    scenes.add_and_build(obj)
    assert_baked(obj, simulated, target)


def test_an_artists_action_on_the_keys_plays_on(simulated):
    obj, _ = scenes.character()
    add_artists_keys(obj)
    smile = obj.data.shape_keys.key_blocks["Smile"]
    for frame, value in ((1, 0.0), (12, 1.0)):
        smile.value = value
        smile.keyframe_insert("value", frame=frame)
    action = obj.data.shape_keys.animation_data.action
    scenes.add_and_build(obj)
    assert_baked(obj, simulated, "FRAME_KEYS")
    assert obj.data.shape_keys.animation_data.action == action
    bpy.context.scene.frame_set(12)
    assert smile.value == 1.0


def add_artists_keys(obj):
    """A Basis, a key in use relative to another one, and a muted one."""
    for name in ("Basis", "Wide", "Smile", "Off"):
        obj.shape_key_add(name=name)
    blocks = obj.data.shape_keys.key_blocks
    for vertex, point in enumerate(blocks["Wide"].points):
        point.co *= 1.1 if vertex % 2 else 1.0
    blocks["Smile"].relative_key = blocks["Wide"]
    blocks["Wide"].value, blocks["Smile"].value, blocks["Off"].value = 0.5, 0.25, 1.0
    blocks["Off"].mute = True


def test_bake_again_replaces(simulated):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=2, frame_end=5)
    names = [block.name for block in obj.data.shape_keys.key_blocks]
    assert names == ["Basis", *(f"jounce: frame {frame}" for frame in range(2, 6))]
    assert [action.name for action in bpy.data.actions if "Jounce" in action.name] == ["Jounce Column"]


def test_baking_again_through_a_rig_that_is_read_from_doubles_leaves_no_keys_behind():
    obj, _ = scenes.character()
    obj.modifiers["Armature"].use_deform_preserve_volume = True
    scenes.add_and_build(obj)
    for _ in range(2):
        bpy.ops.jounce.bake(target="FRAME_KEYS")
        assert list(bpy.data.shape_keys) == [obj.data.shape_keys]


def test_modal_keys_are_few_and_within_their_sliders():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    blocks = [block for block in obj.data.shape_keys.key_blocks if block.name.startswith("jounce")]
    assert 0 < len(blocks) == obj.jounce.bake_keys < len(FRAMES)
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        assert all(0.0 == block.slider_min <= block.value <= block.slider_max == 1.0 for block in blocks)


def test_stopped_while_shape_keys_are_found_it_changes_nothing(module, monkeypatch):
    class Endless:
        """A job without an end."""

        progress, stage, done, cancelled = 0.5, "trying shapes", False, False

        def cancel(self):
            self.cancelled = True

    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    before = snapshot.snapshot(obj), snapshot.properties(obj.jounce)
    job = Endless()
    monkeypatch.setattr("jounce.ModalKeysJob", lambda *_, **__: job)
    settings = obj.jounce.bake_settings("MODAL_KEYS", FRAMES.start, FRAMES.stop - 1)
    task = module("ops.bake").bake_body(obj, bpy.context, settings, print)
    while next(task).stage != f"Finding the shape keys of {obj.name}: trying shapes":
        pass
    task.close()
    assert job.cancelled
    assert before == (snapshot.snapshot(obj), snapshot.properties(obj.jounce))


def test_a_limit_on_the_keys_is_kept_and_its_error_told():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.tolerance, obj.jounce.max_keys = 0.001, 1
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    assert obj.jounce.bake_keys <= 2
    assert obj.jounce.bake_error > 1e-5


def test_held_poses_are_kept_exactly():
    obj, rig = scenes.character()
    rig.animation_data_clear()
    rig.pose.bones["Upper"].rotation_euler = (1.0, 0.3, 0.0)
    rig.location, rig.rotation_euler = (3.0, -2.0, 1.0), (0.3, 0.6, 2.0)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    posed = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert np.abs(scenes.evaluated_frames(obj, FRAMES) - posed).max() < 2e-6


def test_a_body_that_does_not_move_gets_no_keys(capfd):
    obj, rig = scenes.character()
    rig.animation_data_clear()
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    assert obj.data.shape_keys is None
    assert "nothing to bake" in capfd.readouterr().out


def test_gravity_bends_and_is_off_by_default():
    obj, rig = scenes.character()
    rig.animation_data_clear()
    rig.rotation_euler.x = 1.5
    scenes.settle_scene()
    scenes.add_and_build(obj)
    posed = scenes.evaluated_frames(obj, FRAMES)
    obj.jounce.use_gravity = True
    obj.jounce.pre_roll = 50
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert (scenes.evaluated_frames(obj, FRAMES) - posed)[..., 2].min() < -1e-3


def test_the_same_scene_bakes_to_the_same_bits(module):
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    first = scenes.evaluated_frames(obj, FRAMES)
    module("core.body.built_bodies").CACHE.clear()
    bpy.context.scene.frame_set(6)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), first)
    assert bpy.context.scene.frame_current == 6


def test_the_saved_file_plays_without_the_extension_and_bakes_again_with_it(tmp_path, module):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    expected = scenes.evaluated_frames(obj, FRAMES)
    path = tmp_path / "baked.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    assert np.array_equal(evaluated_elsewhere(path, tmp_path), expected)
    module("core.body.built_bodies").CACHE.clear()
    bpy.ops.wm.open_mainfile(filepath=str(path))
    reopened = bpy.data.objects["Column"]
    scenes.activate(reopened)
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    assert np.array_equal(scenes.evaluated_frames(reopened, FRAMES), expected)


def evaluated_elsewhere(path, folder):
    """World positions (f, p, 3) of the column in a Blender without the extension."""
    result = folder / "shapes.npy"
    script = f"""
import os, sys
sys.path.insert(0, {str(Path(scenes.__file__).parent)!r})
import bpy, numpy, scenes
bpy.ops.wm.open_mainfile(filepath={str(path)!r})
assert not hasattr(bpy.types.Object, "jounce")
frames = range({FRAMES.start}, {FRAMES.stop})
numpy.save({str(result)!r}, scenes.evaluated_frames(bpy.data.objects["Column"], frames))
os._exit(0)
"""
    environment = os.environ | {"BLENDER_USER_RESOURCES": str(folder)}
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
    return np.load(result)
