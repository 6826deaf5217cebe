"""Drafts before a final motion: every vertex moves, in looser steps, and nothing is kept with the file."""

import time

import bpy
import numpy as np
import pytest
import scenes
from previews import FRAMES, shape

RANGE = {"frame_start": FRAMES.start, "frame_end": FRAMES.stop - 1}


@pytest.fixture
def character(tmp_path):
    """A built, previewed character of the default quality, in a saved file."""
    obj, rig = scenes.character()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.settle_scene(end=FRAMES.stop - 1)
    scenes.add_and_build(obj)
    obj.jounce.property_unset("quality")
    bpy.ops.jounce.preview()
    return obj, rig


def drafted(known):
    """The shapes (f, p, 3) of the draft, without the final motion."""
    model, embedding = known.filling.owner.model, known.filling.owner.embedding
    frames = known.filling.cache.coefficients
    return np.array([model.displacement(np.asarray(each, float), embedding) for each in frames])


def worked(known):
    """Works as in a window until nothing is left."""
    deadline = time.monotonic() + 60.0
    while known.busy and time.monotonic() < deadline:
        known.work(bpy.context, 0.005)
    assert not known.busy


def test_a_draft_is_within_a_few_percent_of_its_final_motion(character, session, module):
    obj, _ = character
    bpy.ops.jounce.fill_cache()
    known = session(obj)
    assert known.filling.owner is known.final.fine
    draft = drafted(known)
    truth = [
        known.final.fine.model.displacement(np.asarray(each, float), known.filling.owner.embedding)
        for each in known.final.cache.coefficients
    ]
    share = np.linalg.norm(draft - truth) / np.linalg.norm(truth)
    assert 0.0 < share < 0.02
    assert known.final.error.share == pytest.approx(share, rel=1e-3)
    assert known.final.draft_distance == f"A frame is {share:.0%} off until it is Final"


def test_a_frame_is_the_same_in_any_order_of_frames(character, session):
    obj, _ = character
    bpy.ops.jounce.fill_cache()
    known = session(obj)
    frames = list(known.filling.cache.coefficients)
    bpy.ops.jounce.clear_cache()
    for frame in (7, 2, 12, 5):
        shape(obj, frame)
    again = session(obj).filling.cache.coefficients
    assert len(again) == len(frames)
    assert all(np.array_equal(one, other) for one, other in zip(frames, again, strict=True))


def test_a_slider_is_felt_by_the_draft_from_the_first_frame(character, session, module, monkeypatch):
    monkeypatch.setattr(module("bridge.preview.session"), "QUIET_SECONDS", 0.0)
    obj, _ = character
    bpy.ops.jounce.fill_cache()
    known = session(obj)
    before = drafted(known)
    for name, value in (("strength", 2.0), ("frequency", 1.5 * obj.jounce.frequency), ("poisson", 0.45)):
        setattr(obj.jounce, name, value)
        bpy.context.view_layer.update()
        with module("bridge.preview.previews").paused():
            worked(known)
        after = drafted(known)
        assert np.abs(after - before).max() > 1e-4, name
        assert known.final.error.share < 0.05
        before = after


@pytest.mark.parametrize("change", ["large", "nodes", "draft"])
def test_other_drafts_are_of_modes(character, session, module, monkeypatch, change):
    obj, _ = character
    bpy.ops.jounce.fill_cache()
    assert session(obj).filling.owner is not session(obj).motions.body
    if change == "large":
        monkeypatch.setattr(module("props.bake"), "LARGEST_LIVE", 100)
    name, value = {
        "large": ("strength", 1.5),
        "nodes": ("target", "SKINNING_NODES"),
        "draft": ("quality", "DRAFT"),
    }[change]
    setattr(obj.jounce, name, value)
    bpy.ops.jounce.fill_cache()
    known = session(obj)
    assert known.filling.owner is known.motions.body
    assert known.filling.cache.coefficients[-1].shape[1:] == (3, 4)


def test_drafts_of_loops_are_of_modes(character):
    state = character[0].jounce
    assert state.drafts_vertices(state.simulated_quality, state.built_tets)
    state.loop = True
    assert not state.drafts_vertices(state.simulated_quality, state.built_tets)


def test_nothing_is_stored_in_the_file_and_the_bake_is_the_final_motion(character, session, module):
    obj, _ = character
    motions = module("bridge.motions.motions")
    obj.jounce.quality = "DRAFT"
    bpy.ops.jounce.fill_cache()
    assert motions.kept(obj) is not None
    obj.jounce.property_unset("quality")
    bpy.ops.jounce.fill_cache()
    assert motions.kept(obj) is None
    shown = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.bake(target="MESH_CACHE", **RANGE)
    assert np.abs(scenes.evaluated_frames(obj, FRAMES) - shown).max() < 1e-6


def test_flesh_that_is_pulled_by_hand_moves_every_vertex(character, session, module):
    obj, _ = character
    bpy.ops.jounce.fill_cache()
    known = session(obj)
    with module("bridge.preview.previews").paused():
        moved = known.begin_by_hand(known.filling.drives[5])
        assert moved.shaper is known.filling.owner
        before = known.display.offsets.copy()
        surface = known.motions.scene.surface
        point = len(surface.points) - 1
        grip = module("core.body.grip").Grip(moved.shaper, surface.weights[point], point, surface.triangles)
        pose = known.filling.drives[5].pose
        compliance = grip.compliance(moved.simulation, pose, known.motions.diagonal)
        target = grip.position(pose, moved.simulation.coefficients) + np.array([0.1, 0.0, 0.0])
        start = np.linalg.norm(target - grip.position(pose, moved.simulation.coefficients))
        for _ in range(12):
            moved.force = grip.spring(target, pose, moved.simulation.coefficients, compliance)
            known.display.move(moved.step(), moved.shaper, moved.beside)
        assert np.linalg.norm(target - grip.position(pose, moved.simulation.coefficients)) < 0.7 * start
        assert np.abs(known.display.offsets - before).max() > 1e-3


def test_an_opened_file_shows_its_final_frames_without_a_simulation(character, session, module):
    obj, _ = character
    bpy.ops.jounce.fill_cache()
    shown = scenes.evaluated_frames(obj, FRAMES)
    assert session(obj).filling.simulated > 0
    bpy.ops.wm.save_mainfile()
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    obj = bpy.data.objects["Column"]
    module("bridge.preview.previews").sync()
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), shown)
    known = session(obj)
    assert known.filling.simulated == known.final.filling.simulated == 0
