"""Export Training Poses: poses and shapes match vertex by vertex, and leave no trace."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from test_refusals import assert_refused

POSES = 6


@pytest.fixture
def sets(module):
    """The extension's module for training sets."""
    return module("bridge.bake.training_sets")


def bender(**settings):
    """A built column with an action that bends it far."""
    obj, rig = scenes.character()
    for frame, angle in ((1, 0.0), (6, 1.4), (12, -0.6)):
        for name, share in (("Lower", 1.0), ("Upper", 0.7)):
            bone = rig.pose.bones[name]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = (share * angle, 0.1, 0.0)
            bone.keyframe_insert("rotation_euler", frame=frame)
    scenes.settle_scene()
    scenes.add_and_build(obj)
    for name, value in settings.items():
        setattr(obj.jounce, name, value)
    scenes.activate(obj)
    return obj, rig


def write(path, **options):
    """Exports a training set."""
    options = {"count": POSES} | options
    assert bpy.ops.jounce.export_training(filepath=str(path), **options) == {"FINISHED"}
    return path, path.with_suffix(".abc")


def read(path, frames):
    """World places (f, p, 3) of the only mesh of a file, and its posed bones (f, b, 3)."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.frame_start = 0
    if path.suffix == ".abc":
        bpy.ops.wm.alembic_import(filepath=str(path), as_background_job=False)
    else:
        bpy.ops.import_scene.fbx(filepath=str(path), anim_offset=0.0)
    (mesh,) = [obj for obj in bpy.data.objects if obj.type == "MESH"]
    return scenes.evaluated_frames(mesh, frames), mesh.name, len(mesh.data.polygons)


def rest(obj):
    """World places (p, 3) of a mesh at rest."""
    matrix = np.array(obj.jounce.bind_matrix).reshape(4, 4)
    return np.array([v.co for v in obj.data.vertices]) @ matrix[:3, :3].T + matrix[:3, 3]


@pytest.mark.parametrize("gravity", [0.0, 1.0])
def test_both_files_have_the_same_vertices_and_poses(tmp_path, gravity):
    obj, _ = bender(use_gravity=gravity > 0.0, gravity=gravity, quality="FINAL")
    expected, name, faces = rest(obj), obj.name, len(obj.data.polygons)
    fbx, alembic = write(tmp_path / "hero.fbx")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hero.abc", "hero.fbx"]
    frames = range(POSES + 1)
    posed, fbx_name, fbx_faces = read(fbx, frames)
    shown, abc_name, abc_faces = read(alembic, frames)
    shown = shown / 100.0
    assert fbx_name == abc_name == name and fbx_faces == abc_faces == faces
    assert posed.shape == shown.shape == (POSES + 1, len(expected), 3)
    size = np.linalg.norm(np.ptp(expected, axis=0))
    assert np.abs(shown[0] - expected).max() < 1e-5 * size
    assert np.abs(posed[0] - expected).max() < 1e-5 * size
    away = np.linalg.norm(posed[1:] - expected, axis=2).max(axis=1)
    assert away.min() > 0.01 * size and away.max() > 0.1 * size
    # Held flesh without a load is as the rig poses it, and sags otherwise.
    flesh = np.linalg.norm(shown[1:] - posed[1:], axis=2).max() / size
    assert flesh < 1e-5 if gravity == 0.0 else 1e-3 < flesh < 0.3


def test_poses_stay_within_what_was_seen_and_a_seed_draws_the_same(module):
    _, rig = bender()
    posing = module("bridge.inputs.posing")
    found, again, others = (posing.poses(rig, 40, seed) for seed in (0, 0, 1))
    upper = found["Upper", "rotation_euler"]
    assert np.array_equal(upper, again["Upper", "rotation_euler"])
    assert not np.array_equal(upper, others["Upper", "rotation_euler"])
    assert np.array_equal(upper[0], np.zeros(3))
    assert upper[:, 0].min() >= -0.421 and upper[:, 0].max() <= 0.981 and np.ptp(upper[:, 0]) > 0.7
    # The bone that carries the whole character stays.
    assert np.array_equal(found["Lower", "rotation_euler"], np.zeros((41, 3)))


def test_quaternions_of_zeros_are_no_rotation(module):
    _, rig = bender()
    bone = rig.pose.bones["Upper"]
    bone.rotation_mode = "QUATERNION"
    for frame, value in ((1, (0.0, 0.0, 0.0, 0.0)), (12, (2.0, 0.0, 0.0, 0.0))):
        bone.rotation_quaternion = value
        bone.keyframe_insert("rotation_quaternion", frame=frame)
    found = module("bridge.inputs.posing").poses(rig, 30, 0)["Upper", "rotation_quaternion"]
    assert np.allclose(found, (1.0, 0.0, 0.0, 0.0))


def test_without_actions_poses_stay_within_the_limits_of_the_bones(module):
    _, rig = bender()
    bpy.data.actions.remove(rig.animation_data.action)
    bone = rig.pose.bones["Upper"]
    bone.use_ik_limit_x, bone.ik_min_x, bone.ik_max_x = True, -0.05, 0.2
    found = module("bridge.inputs.posing").poses(rig, 60, 0)["Upper", "rotation_euler"]
    assert found[:, 0].min() >= -0.051 and found[:, 0].max() <= 0.201 and np.ptp(found[:, 0]) > 0.1
    assert np.abs(found[:, 1]).max() <= np.radians(30.1) and np.ptp(found[:, 1]) > 0.4


def test_nothing_of_the_scene_changes_and_a_stop_writes_nothing(tmp_path, sets):
    obj, rig = bender()
    bpy.context.scene.frame_set(5)
    rig.pose.bones["Upper"].scale = (1.1, 1.0, 1.0)
    bpy.context.view_layer.update()
    before, action = snapshot.file_state(), rig.animation_data.action
    write(tmp_path / "hero.fbx")
    assert snapshot.file_state() == before and bpy.context.scene.frame_current == 5
    assert rig.animation_data.action == action
    for share in (0.15, 0.5, 0.85):
        task = sets.written(obj, tmp_path / "other.fbx", POSES, 0, bpy.context, print)
        assert any(step.fraction >= share for step in task)
        task.close()
        assert snapshot.file_state() == before and bpy.context.scene.frame_current == 5
        assert rig.animation_data.action == action
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hero.abc", "hero.fbx"]


def test_a_file_with_other_vertices_is_refused_and_not_kept(tmp_path, sets, monkeypatch):
    obj, _ = bender()
    before, read_again = snapshot.file_state(), sets.read_again

    def damaged(path, context, frame):
        found = read_again(path, context, frame)
        return {name: points[::-1] for name, points in found.items()} if path.suffix == ".abc" else found

    monkeypatch.setattr(sets, "read_again", damaged)
    path = str(tmp_path / "hero.fbx")
    assert_refused(bpy.ops.jounce.export_training, "elsewhere", filepath=path, count=POSES)
    assert list(tmp_path.iterdir()) == [] and snapshot.file_state() == before


def test_bakes_and_missing_armatures_are_refused(tmp_path):
    obj, rig = bender()
    path = str(tmp_path / "hero.fbx")
    rig.hide_set(True)
    assert_refused(bpy.ops.jounce.export_training, "hidden", filepath=path)
    rig.hide_set(False)
    assert_refused(bpy.ops.jounce.export_training, "No file was given")
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    assert_refused(bpy.ops.jounce.export_training, "shows its bake", filepath=path)
    assert list(tmp_path.iterdir()) == []
