"""Previews of the final motion: they show the bake, and continue from their file."""

import time
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
from previews import FRAMES, assert_shown_as_baked, shape


@pytest.fixture
def character(tmp_path):
    """A built character in a saved file, in final quality."""
    obj, rig = scenes.character()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.add_and_build(obj)
    obj.jounce.quality = "FINAL"
    return obj, rig


def finished(known):
    """Works until nothing is left to do."""
    deadline = time.monotonic() + 60.0
    while known.busy and time.monotonic() < deadline:
        known.work(bpy.context, 0.01)
    assert not known.busy
    return known


def cache_of(obj):
    return Path(bpy.path.abspath(f"//shot {obj.name}.jcache"))


def test_the_preview_shows_what_a_final_bake_writes(character, session):
    obj, _ = character
    bpy.ops.jounce.preview()
    final = scenes.evaluated_frames(obj, FRAMES)
    obj.jounce.quality = "DRAFT"
    draft = scenes.evaluated_frames(obj, FRAMES)
    assert np.abs(final - draft).max() > 1e-3
    obj.jounce.quality = "FINAL"
    assert_shown_as_baked(obj)


def test_a_bake_takes_what_the_preview_has_simulated(character, session):
    obj, _ = character
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert session(obj).status() == "Final"
    kept = cache_of(obj).read_bytes()
    bpy.ops.jounce.bake(target="MESH_CACHE")
    assert cache_of(obj).read_bytes() == kept
    from_cache = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.free_bake()
    cache_of(obj).unlink()
    bpy.ops.jounce.bake(target="MESH_CACHE")
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), from_cache)
    assert cache_of(obj).read_bytes() == kept


def test_the_draft_of_modes_is_shown_until_the_final_frame_is_there(character, session, module, monkeypatch):
    monkeypatch.setattr(module("props.bake"), "LARGEST_LIVE", 0)
    obj, _ = character
    obj.jounce.quality = "DRAFT"
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    draft = shape(obj, 8)
    obj.jounce.quality = "FINAL"
    known = session(obj)
    with module("bridge.preview.previews").paused():
        known.restart(known.cache)
        assert known.busy and known.final.checked == 0
        known.enter_frame(8)
        assert np.abs(scenes.evaluated(obj) - draft).max() < 1e-7
        finished(known)
        known.enter_frame(8)
        assert np.abs(scenes.evaluated(obj) - draft).max() > 1e-4
    error = known.final.error
    assert len(error.apart) == len(obj.data.vertices)
    assert error.share == pytest.approx(share_of(obj), rel=1e-3)


def share_of(obj):
    """Distance of the draft from the final motion, measured on the displayed meshes."""
    final = scenes.evaluated_frames(obj, FRAMES)
    obj.jounce.quality = "DRAFT"
    draft = scenes.evaluated_frames(obj, FRAMES)
    scenes.activate(obj)
    bpy.ops.jounce.preview()
    posed = scenes.evaluated_frames(obj, FRAMES)
    return np.linalg.norm(draft - final) / np.linalg.norm(final - posed)


def test_a_motion_that_was_stopped_goes_on_when_the_file_is_opened_again(character, session, module):
    obj, _ = character
    bpy.ops.jounce.preview()
    shape(obj, 5)
    bpy.ops.wm.save_mainfile()
    data = cache_of(obj).read_bytes()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["Column"]
    module("bridge.preview.previews").sync()
    shape(obj, 3)
    assert len(session(obj).final.cache) == 5
    shape(obj, 9)
    assert cache_of(obj).read_bytes().startswith(data)
    assert_shown_as_baked(obj)


def test_what_changed_is_simulated_anew(character, session):
    obj, rig = character
    bpy.ops.jounce.preview()
    before = scenes.evaluated_frames(obj, FRAMES)
    curve = next(iter(scenes_curves(rig)))
    curve.keyframe_points[-1].co.y += 0.3
    curve.update()
    rig.update_tag()
    bpy.context.view_layer.update()
    after = scenes.evaluated_frames(obj, FRAMES)
    assert np.abs(after - before).max() > 1e-3
    assert_shown_as_baked(obj)
    obj.jounce.quality, obj.jounce.damping = "FINAL", 0.4
    bpy.ops.jounce.preview()
    assert_shown_as_baked(obj)


def scenes_curves(rig):
    """The F-curves of the rig's action."""
    action = rig.animation_data.action
    return action.fcurves if hasattr(action, "fcurves") else action.layers[0].strips[0].channelbags[0].fcurves


def test_more_frames_are_compared_anew(character, session):
    obj, _ = character
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    few = session(obj).final.error.share
    bpy.context.scene.frame_end = 20
    bpy.ops.jounce.fill_cache()
    assert session(obj).status().startswith("Final")
    assert session(obj).final.error.share != few


def test_settings_of_modes_leave_the_final_motion_as_it_is(character, session):
    obj, _ = character
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    kept = cache_of(obj).read_bytes()
    obj.jounce.modes, obj.jounce.clusters = 5, 20
    bpy.ops.jounce.fill_cache()
    assert cache_of(obj).read_bytes() == kept
    obj.jounce.damping = 0.3
    bpy.ops.jounce.fill_cache()
    assert cache_of(obj).read_bytes() != kept


def test_limits_hold_the_final_motion(character, session):
    obj, _ = character
    obj.jounce.use_limit = obj.jounce.use_stretch = False
    rigged = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.preview()

    def moved():
        bpy.ops.jounce.fill_cache()
        return np.linalg.norm(scenes.evaluated_frames(obj, FRAMES) - rigged, axis=2).max()

    free = moved()
    for limit in ("limit", "stretch"):
        setattr(obj.jounce, f"use_{limit}", True)
        setattr(obj.jounce, limit, 1.0)
        assert moved() < 0.7 * free
        setattr(obj.jounce, f"use_{limit}", False)


def test_the_preview_shows_what_pushes_and_what_the_rig_adds_as_the_bake_does(character, session):
    obj, _ = character
    obj.modifiers["Armature"].use_deform_preserve_volume = True
    bpy.ops.jounce.preview()
    still = scenes.evaluated_frames(obj, FRAMES)
    obj.jounce.push = (3.0, 0.0, 0.0)
    pushed = scenes.evaluated_frames(obj, FRAMES)
    assert session(obj).final.checked == len(FRAMES)
    assert np.abs(pushed - still).max() > 1e-3
    obj.jounce.quality = "DRAFT"
    assert np.abs(scenes.evaluated_frames(obj, FRAMES) - pushed).max() > 1e-3
    obj.jounce.quality = "FINAL"
    bpy.ops.jounce.bake(target="MESH_CACHE")
    assert np.abs(scenes.evaluated_frames(obj, FRAMES) - pushed).max() < 1e-5


def test_a_file_that_is_not_saved_keeps_the_motion_in_memory_until_it_is(session, tmp_path):
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.quality = "FINAL"
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert "once it is saved" in session(obj).status()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    session(obj).fill(0.0)
    assert cache_of(obj).is_file() and "saved" not in session(obj).status()


def test_the_file_follows_the_name_of_the_body(character, session):
    obj, _ = character
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    before, kept = cache_of(obj), cache_of(obj).read_bytes()
    obj.name = "Pillar"
    session(obj).fill(0.0)
    assert not before.exists() and cache_of(obj).read_bytes() == kept


def test_a_copy_of_the_blend_has_a_file_of_its_own(character, session, tmp_path):
    obj, _ = character
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    kept = cache_of(obj).read_bytes()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "other.blend"))
    session(obj).fill(0.0)
    assert (tmp_path / "shot Column.jcache").read_bytes() == kept
    assert (tmp_path / "other Column.jcache").read_bytes() == kept


@pytest.mark.parametrize("operator", ["clear_cache", "remove"])
def test_the_file_goes_with_the_cache(character, operator):
    obj, _ = character
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert cache_of(obj).is_file()
    bpy.ops.jounce.preview()
    getattr(bpy.ops.jounce, operator)()
    assert not cache_of(obj).exists()


def test_a_file_that_jounce_has_not_made_stays(character, session):
    obj, _ = character
    cache_of(obj).write_text("thesis")
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert "has not made" in session(obj).status()
    foreign = cache_of(obj)
    obj.name = "Pillar"
    session(obj).fill(0.0)
    assert cache_of(obj).is_file() and foreign.read_text() == "thesis"
    bpy.ops.jounce.clear_cache()
    assert foreign.read_text() == "thesis"


def test_stopping_a_bake_keeps_what_is_simulated(character, module):
    obj, _ = character
    settings = obj.jounce.bake_settings("MESH_CACHE", 1, 12)
    task = module("ops.bake").bake_body(obj, bpy.context, settings, print)
    while next(task).stage != "Pulling back" and not cache_of(obj).exists():
        pass
    task.close()
    data = cache_of(obj).read_bytes()
    assert len(data) > 1000
    bpy.ops.jounce.bake(target="MESH_CACHE")
    assert cache_of(obj).read_bytes().startswith(data)


def test_each_law_moves_otherwise_and_is_baked_as_it_is_shown(character):
    obj, _ = character
    obj.jounce.frequency = 8.0
    bpy.ops.jounce.preview()
    seen = []
    for law in ("corotated", "neo_hookean", "mooney_rivlin", "stvk"):
        obj.jounce.law = law
        seen.append(scenes.evaluated_frames(obj, FRAMES))
    for index, shapes in enumerate(seen):
        assert all(np.abs(shapes - other).max() > 1e-4 for other in seen[:index]), index
    assert_shown_as_baked(obj)
