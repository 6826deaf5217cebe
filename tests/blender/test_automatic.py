"""The default quality: the final motion plays, the same bits as in a bake."""

import time

import bpy
import numpy as np
import pytest
import scenes
from layouts import drawn
from previews import FRAMES, shape

RANGE = {"frame_start": FRAMES.start, "frame_end": FRAMES.stop - 1}


def built(end=FRAMES.stop - 1):
    """A built, swinging character whose quality nobody has set."""
    obj, rig = scenes.character()
    scenes.settle_scene(end=end)
    scenes.add_and_build(obj)
    obj.jounce.property_unset("quality")
    return obj, rig


def worked(known, until):
    """Works as in a window until something holds."""
    deadline = time.monotonic() + 60.0
    while not until() and time.monotonic() < deadline:
        known.work(bpy.context, 0.005)
    assert until()


def baked(obj, quality=None, target="MESH_CACHE"):
    """The evaluated shapes of a bake, which is freed again."""
    if quality is not None:
        obj.jounce.quality = quality
    scenes.activate(obj)
    bpy.ops.jounce.bake(target=target, **RANGE)
    shapes = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.free_bake()
    return shapes


@pytest.fixture
def saved(tmp_path):
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))


@pytest.fixture
def small(module, monkeypatch):
    """Makes every body too large for a final motion that nobody asked for."""
    monkeypatch.setattr(module("core.body.full_space"), "LARGEST", 100)


def test_what_nobody_has_set_plays_and_bakes_the_final_motion(saved, session):
    obj, _ = built()
    assert obj.jounce.quality == "AUTOMATIC"
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert session(obj).status() == "Final"
    shown, frames = scenes.evaluated_frames(obj, FRAMES), list(session(obj).final.cache.coefficients)
    unset, final, draft = baked(obj), baked(obj, "FINAL"), baked(obj, "DRAFT")
    assert np.array_equal(unset, final) and np.abs(shown - final).max() < 1e-6
    assert np.abs(final - draft).max() > 1e-3
    obj.jounce.property_unset("quality")
    scenes.activate(obj)
    bpy.ops.jounce.clear_cache()
    bpy.ops.jounce.preview()
    for frame in (7, 2, 12, 5):
        shape(obj, frame)
    again = session(obj).final.cache.coefficients
    assert all(np.array_equal(one, other) for one, other in zip(frames, again, strict=True))


def test_a_frame_shows_its_draft_until_its_final_is_there_and_the_line_counts(session, module, monkeypatch):
    # Drafts of every vertex take nearly as long as their final motion.
    monkeypatch.setattr(module("props.bake"), "LARGEST_LIVE", 0)
    obj, _ = built()
    bpy.ops.jounce.preview()
    known, seen = session(obj), []
    with module("bridge.preview.previews").paused():
        known.get_ready(bpy.context)
        while known.busy:
            known.work(bpy.context, 0.001)
            seen.append(known.status() if known.complete else known.final.status(known.wanted))
            index = 11
            if known.filling.checked > index:
                coefficients, shaper = known.direction.best(index)
                is_final = known.final.checked > index
                assert shaper is (known.final.fine if is_final else known.motions.body)
    counted = [text for text in seen if text.endswith("of 12 frames")]
    assert len(set(counted)) > 1 and all(text.startswith("Final, ") for text in counted)
    assert seen[-1].startswith("Final. ")


def test_a_changed_slider_is_seen_at_once_in_the_draft_and_then_in_final(saved, session, module, monkeypatch):
    monkeypatch.setattr(module("bridge.preview.session"), "QUIET_SECONDS", 0.0)
    obj, _ = built()
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    before, known = shape(obj, 12), session(obj)
    obj.jounce.strength = 2.0
    bpy.context.view_layer.update()
    with module("bridge.preview.previews").paused():
        worked(known, lambda: known.complete)
        checked = known.final.checked
        draft = scenes.evaluated(obj)
        if checked < 12:
            assert np.abs(draft - before).max() > 1e-3 and known.display.shows(known.cache.coefficients[11])
        worked(known, lambda: not known.busy)
        bpy.context.view_layer.update()
    final = scenes.evaluated(obj)
    assert known.display.shows(known.final.cache.coefficients[11])
    assert np.abs(baked(obj)[11] - final).max() < 1e-6


def test_too_large_a_body_says_so_and_stays_a_draft_in_preview_and_bake(saved, session, small, capsys):
    obj, _ = built()
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    status = session(obj).status()
    assert status.startswith("Draft: 960 tets would take seconds a frame") and "choose Final" in status
    assert session(obj).final is None
    shown = scenes.evaluated_frames(obj, FRAMES)
    unset = baked(obj)
    assert "Column is baked as its draft: 960 tets" in capsys.readouterr().out
    assert np.array_equal(unset, baked(obj, "DRAFT")) and np.abs(unset - shown).max() < 1e-6
    assert np.abs(baked(obj, "FINAL") - unset).max() > 1e-3


def test_a_build_that_makes_it_small_enough_brings_its_final(session, module, monkeypatch):
    monkeypatch.setattr(module("core.body.full_space"), "LARGEST", 1200)
    obj, _ = built()
    obj.jounce.resolution = 20
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert session(obj).status().startswith("Draft: ")
    obj.jounce.resolution = 12
    bpy.ops.jounce.fill_cache()
    assert session(obj).status().startswith("Final")


def test_the_quality_of_a_bake_is_that_of_the_body_it_builds(saved, module, monkeypatch, capsys):
    monkeypatch.setattr(module("core.body.full_space"), "LARGEST", 1200)
    obj, _ = built()
    small = baked(obj)
    obj.jounce.resolution = 20
    assert not np.array_equal(baked(obj), small)
    assert "baked as its draft" in capsys.readouterr().out
    obj.jounce.resolution = 12
    assert np.array_equal(baked(obj), small)
    assert "baked as its draft" not in capsys.readouterr().out


def test_skinning_nodes_play_and_bake_the_draft(saved, session, capsys):
    obj, _ = built()
    obj.jounce.target = "SKINNING_NODES"
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert session(obj).status() == "Draft: Skinning Nodes play modes alone"
    shown = scenes.evaluated_frames(obj, FRAMES)
    assert np.abs(baked(obj, target="SKINNING_NODES") - shown).max() < 1e-5
    assert "Column is baked as its draft: Skinning Nodes play modes alone" in capsys.readouterr().out
    obj.jounce.target = "MODAL_KEYS"
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    assert session(obj).status().startswith("Final")


@pytest.mark.parametrize("quality", ["DRAFT", "FINAL", "LEARNT"])
def test_a_file_keeps_the_quality_that_it_has(tmp_path, quality):
    obj, _ = built()
    obj.jounce.quality = quality
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "shot.blend"))
    assert bpy.data.objects["Column"].jounce.quality == quality


def test_undo_and_a_bake_know_the_final_motion_of_a_file_that_is_not_saved(session, module):
    obj, _ = built()
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    frames = list(session(obj).final.cache.coefficients)
    bpy.ops.ed.undo_push(message="before")
    obj.location.x += 1e-9
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    obj = bpy.data.objects["Column"]
    bpy.ops.jounce.fill_cache()
    known = session(obj).final.cache.coefficients
    assert all(one is other for one, other in zip(frames, known, strict=True))
    simulated = []
    motion = module("core.passes.simulation_pass").SimulationPass
    before = motion.motion
    motion.motion = lambda self: (simulated.append((self._is_final, self.simulated)), before(self))[1]
    try:
        scenes.activate(obj)
        bpy.ops.jounce.bake(target="MODAL_KEYS", **RANGE)
    finally:
        motion.motion = before
    assert (True, 0) in simulated


def test_a_rig_that_must_be_played_in_order_leaves_nothing_to_do(session):
    obj, _ = built()
    obj.jounce.use_gravity = True
    bpy.context.scene.driver_add("gravity", 2).driver.expression = "-0.1 * frame"
    bpy.ops.jounce.preview()
    for frame in (1, 2, 3):
        shape(obj, frame)
    known = session(obj)
    assert known.waits and not known.complete
    worked(known, lambda: known.final.checked == 3)
    worked(known, lambda: not known.busy)


def test_an_artist_who_rests_on_a_late_frame_sees_its_final_before_its_turn(session, module, monkeypatch):
    monkeypatch.setattr(module("bridge.motions.final_preview"), "RESTED_SECONDS", 0.0)
    obj, rig = built(end=200)
    bone = rig.pose.bones["Upper"]
    for frame in range(1, 200, 6):
        bone.rotation_euler = (0.5 * np.sin(0.35 * frame), 0.1, 0.0)
        bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(180)
    bpy.ops.jounce.preview()
    known = session(obj)
    with module("bridge.preview.previews").paused():
        known.restart(known.cache)
        known.final.cache.truncate(0)
        known.restart(known.cache)
        bpy.context.scene.frame_set(180)
        worked(known, lambda: known.complete and known.final.frame(179) is not None)
        look = np.array(known.final.frame(179))
        assert known.final.checked < 179 and "Frame 180 is a first look" in known.status()
        worked(known, lambda: not known.busy)
    truth = known.final.cache.coefficients[179]
    assert "first look" not in known.status()
    assert np.linalg.norm(look - truth) < 0.1 * np.linalg.norm(truth)


def test_the_panels_ask_for_the_quality_once(module):
    obj, _ = built()
    scenes.activate(obj)
    asked = []
    for name in ("main", "more", "preview", "bake"):
        kind = getattr(bpy.types, f"JOUNCE_PT_{name}")
        asked += [prop for prop in drawn(kind).properties() if prop == "quality"]
    assert len(asked) == 1
