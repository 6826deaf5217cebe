"""Final bakes: every vertex of the cage is simulated, beyond the motion of the modes."""

import math
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from test_refusals import assert_refused

FRAMES = range(1, 13)


@pytest.fixture
def character(tmp_path):
    """A built character in a saved file."""
    obj, rig = scenes.character()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.add_and_build(obj)
    return obj, rig


def baked(obj, quality, target="FRAME_KEYS"):
    """The shapes (f, p, 3) of a bake, which is freed again."""
    obj.jounce.quality = quality
    bpy.ops.jounce.bake(target=target)
    shapes = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.free_bake()
    return shapes


def test_drafts_come_nearer_to_the_final_motion_with_more_modes(character):
    obj, _ = character
    # Only the draft has limits.
    obj.jounce.frequency, obj.jounce.use_limit, obj.jounce.use_stretch = 15.0, False, False
    posed = scenes.evaluated_frames(obj, FRAMES)
    final = baked(obj, "FINAL")
    size = np.linalg.norm(final - posed)
    assert size > 0.05

    def error(modes, clusters):
        obj.jounce.modes, obj.jounce.clusters = modes, clusters
        bpy.ops.jounce.build()
        return np.linalg.norm(baked(obj, "DRAFT") - final) / size

    coarse, fine = error(2, 12), error(48, 400)
    assert fine < 0.5 * coarse


def test_the_error_of_a_draft_of_modes_is_told(character, module, monkeypatch):
    monkeypatch.setattr(module("props.bake"), "LARGEST_LIVE", 0)
    obj, _ = character
    obj.jounce.quality = "FINAL"
    bpy.ops.jounce.bake(target="MESH_CACHE")
    final, told = scenes.evaluated_frames(obj, FRAMES), obj.jounce.bake_draft_error
    bpy.ops.jounce.free_bake()
    assert obj.jounce.bake_draft_error == 0.0
    posed, draft = scenes.evaluated_frames(obj, FRAMES), baked(obj, "DRAFT")
    assert told == pytest.approx(np.linalg.norm(draft - final) / np.linalg.norm(final - posed), rel=1e-3)


def test_a_bake_needs_no_draft_of_every_vertex(character, capsys):
    obj, _ = character
    obj.jounce.quality = "FINAL"
    bpy.ops.jounce.bake(target="MESH_CACHE")
    assert obj.jounce.bake_draft_error == 0.0 and "the draft is" not in capsys.readouterr().out


def test_all_bakes_of_shapes_show_the_same_motion_bit_for_bit_each_time(character):
    obj, _ = character
    keys, cache = baked(obj, "FINAL"), baked(obj, "FINAL", "MESH_CACHE")
    assert np.abs(keys - cache).max() < 1e-5
    assert np.array_equal(cache, baked(obj, "FINAL", "MESH_CACHE"))


def test_a_pose_that_is_held_from_the_start_stays_as_it_is(character):
    obj, rig = character
    rig.animation_data_clear()
    bpy.context.view_layer.update()
    posed = scenes.evaluated_frames(obj, FRAMES)
    assert np.abs(baked(obj, "FINAL", "MESH_CACHE") - posed).max() < 1e-5


def test_a_joint_that_crushes_flesh_holds_its_pose(character):
    obj, rig = character
    rig.animation_data_clear()
    rig.pose.bones["Upper"].rotation_euler = (2.9, 0.0, 0.0)
    bpy.context.view_layer.update()
    posed = scenes.evaluated_frames(obj, FRAMES)
    assert np.abs(baked(obj, "FINAL", "MESH_CACHE") - posed).max() < 2e-6


def test_freeing_a_final_bake_restores_everything(character):
    obj, _ = character
    obj.jounce.quality = "FINAL"
    before = snapshot.snapshot(obj)
    for target in ("MODAL_KEYS", "MESH_CACHE", "HELPER_BONES"):
        bpy.ops.jounce.bake(target=target)
        assert obj.jounce.bake_parts
        bpy.ops.jounce.free_bake()
        assert snapshot.differences(before, snapshot.snapshot(obj)) == []


def test_nodes_that_play_modes_are_refused(character):
    character[0].jounce.quality = "FINAL"
    assert_refused(bpy.ops.jounce.bake, "Column", "modes", "mesh cache", target="SKINNING_NODES")


def test_a_loop_closes(character):
    obj, rig = character
    pose = rig.pose.bones["Upper"]
    for frame in range(1, 27):
        pose.rotation_euler = (0.5 * math.sin(2.0 * math.pi * (frame - 1) / 24.0), 0.0, 0.0)
        pose.keyframe_insert("rotation_euler", frame=frame)
    scenes.settle_scene(25)
    obj.jounce.quality, obj.jounce.loop = "FINAL", True
    over = range(1, 26)
    posed = scenes.evaluated_frames(obj, over)
    bpy.ops.jounce.bake(target="MESH_CACHE")
    looped = scenes.evaluated_frames(obj, over)
    assert np.abs(looped - posed).max() > 1e-2
    assert np.abs(looped[-1] - looped[0]).max() < 2e-4 * 2.1
    assert 0.0 < obj.jounce.bake_seam < 1e-4
    bpy.ops.jounce.free_bake()
    bpy.ops.jounce.preview()
    assert np.abs(scenes.evaluated_frames(obj, over) - looped).max() < 1e-5


def moved_by(obj, quality):
    """Displacement of vertices by a bake beyond the rig, (f, p, 3)."""
    posed = scenes.evaluated_frames(obj, FRAMES)
    return baked(obj, quality, "MESH_CACHE") - posed


def test_a_push_moves_final_flesh_as_gravity_does(character):
    obj, rig = character
    rig.animation_data_clear()
    obj.jounce.start = "SETTLED"
    obj.jounce.push = (3.0, 0.0, 0.0)
    pushed = moved_by(obj, "FINAL")
    obj.jounce.push = (0.0, 0.0, 0.0)
    scene = bpy.context.scene
    scene.use_gravity, scene.gravity = True, (3.0, 0.0, 0.0)
    obj.jounce.use_gravity, obj.jounce.gravity = True, 1.0
    assert np.abs(pushed).max() > 1e-3
    assert np.abs(pushed - moved_by(obj, "FINAL")).max() < 1e-4 * np.abs(pushed).max()


@pytest.mark.parametrize("kind", ["WIND", "DRAG", "TURBULENCE"])
def test_fields_move_final_flesh_as_they_move_its_draft(character, kind):
    obj, _ = character
    # A softer column crumples, and then the least breath of wind changes the folds.
    obj.jounce.frequency, obj.jounce.use_limit, obj.jounce.use_stretch = 15.0, False, False
    still = {quality: moved_by(obj, quality) for quality in ("FINAL", "DRAFT")}
    bpy.ops.object.effector_add(type=kind, location=(0.5, 0.0, -3.0))
    field = bpy.context.object.field
    field.strength, field.flow, field.linear_drag, field.size = 8.0, 1.0, 2.0, 1.0
    bpy.context.object.select_set(False)
    obj.select_set(True)
    bpy.context.view_layer.objects.active = obj
    final, draft = (moved_by(obj, quality) - before for quality, before in still.items())
    assert np.linalg.norm(final) > 0.05 * np.linalg.norm(still["FINAL"])
    assert (final * draft).sum() > 0.65 * np.linalg.norm(final) * np.linalg.norm(draft)


def test_final_flesh_follows_a_rig_that_is_no_linear_skinning(character):
    obj, rig = character
    linear = moved_by(obj, "FINAL")
    obj.modifiers["Armature"].use_deform_preserve_volume = True
    assert 0.0 < np.linalg.norm(moved_by(obj, "FINAL") - linear) < 0.3 * np.linalg.norm(linear)
    rig.animation_data_clear()
    rig.pose.bones["Upper"].rotation_euler = (0.0, 0.9, 0.0)
    bpy.context.view_layer.update()
    # A held pose is as the rig makes it, volume preserved.
    assert np.abs(moved_by(obj, "FINAL")).max() < 1e-5


def test_hardening_holds_what_is_strained_and_0_keeps_each_bit(character, module):
    obj, _ = character
    obj.jounce.frequency, obj.jounce.use_limit, obj.jounce.use_stretch = 3.0, False, False
    posed, soft, digest = scenes.evaluated_frames(obj, FRAMES), baked(obj, "FINAL"), obj.jounce.built_digest
    draft = baked(obj, "DRAFT")
    obj.jounce.hardening = 30.0
    hard = baked(obj, "FINAL")
    moves = [np.linalg.norm(shapes - posed, axis=2).max() for shapes in (soft, hard)]
    assert moves[1] < 0.9 * moves[0]
    assert np.array_equal(baked(obj, "DRAFT"), draft) and obj.jounce.built_digest == digest
    obj.jounce.hardening = 0.0
    assert np.array_equal(baked(obj, "FINAL"), soft)


def test_the_preview_of_flesh_that_hardens_is_what_is_baked(character):
    obj, _ = character
    obj.jounce.quality, obj.jounce.hardening = "FINAL", 2.0
    bpy.ops.jounce.preview()
    kept = []
    for hardening in (2.0, 5.0, 2.0):
        obj.jounce.hardening = hardening
        bpy.ops.jounce.fill_cache()
        kept.append(final_file(obj).read_bytes())
    assert kept[0] == kept[2] != kept[1]
    bpy.ops.jounce.preview()
    final_file(obj).unlink()
    baked(obj, "FINAL", "MESH_CACHE")
    assert final_file(obj).read_bytes() == kept[0]


def final_file(obj):
    """Path of the final motion."""
    return Path(bpy.path.abspath(f"//shot {obj.name}.jcache"))
