"""The final motion of loose bodies: every vertex of the cage falls, is thrown and caught; the panel says how
far the handles are off.
"""

import bpy
import layouts
import numpy as np
import pytest
import scenes
from previews import assert_shown_as_baked
from test_loose import FPS, FRAMES, block, collide
from test_touching import jelly as touching_jelly


def apart(shape, other):
    """Distance of two shapes, the other turned and shifted onto the first."""
    shape, other = shape - shape.mean(axis=0), other - other.mean(axis=0)
    left, _, right = np.linalg.svd(other.T @ shape)
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    return np.linalg.norm(other @ (left @ flip @ right) - shape)


@pytest.fixture
def jelly(tmp_path):
    """A loose body that falls on a ground, made with one click, in a saved file."""
    obj = block(height=0.4)
    scenes.settle_scene(FRAMES[-1])
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.activate(obj)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    obj.jounce.resolution = 12
    bpy.ops.jounce.ground()
    obj.jounce.spin = (100.0, 200.0, 50.0)
    return obj


def test_what_plays_is_final_and_the_panel_says_how_far_the_handles_are_off(jelly, session):
    assert jelly.jounce.quality == "AUTOMATIC"
    bpy.ops.jounce.fill_cache()
    known = session(jelly)
    assert known.status().startswith("Final")
    text = f"The draft is {known.final.error.share:.0%} off"
    assert text in layouts.drawn(bpy.types.JOUNCE_PT_preview).texts()
    final = scenes.evaluated_frames(jelly, FRAMES)
    told = known.final.error.share
    jelly.jounce.quality = "DRAFT"
    draft = scenes.evaluated_frames(jelly, FRAMES)
    assert known.status().startswith("Draft")
    rest = final[0]
    missed = np.hypot.reduce([apart(shape, other) for shape, other in zip(final, draft, strict=True)])
    changed = np.hypot.reduce([apart(shape, rest) for shape in final])
    assert 0.0 < told == pytest.approx(missed / changed, rel=0.02)
    # Both fly alike until the ground bends them.
    assert np.abs(final - draft)[:4].max() < 1e-3 < np.abs(final - draft).max()


def test_a_bake_is_what_plays(jelly):
    bpy.ops.jounce.fill_cache()
    assert_shown_as_baked(jelly, size=0.6)


@pytest.mark.parametrize("target", ["MODAL_KEYS", "FRAME_KEYS", "MESH_CACHE"])
def test_it_is_baked_to_what_needs_no_rig(jelly, target):
    shown = scenes.evaluated_frames(jelly, FRAMES)
    jelly.jounce.tolerance = 0.5
    assert bpy.ops.jounce.bake(target=target) == {"FINISHED"}
    assert jelly.jounce.bake_draft_error > 0.0
    assert np.abs(scenes.evaluated_frames(jelly, FRAMES) - shown).max() < 5e-3


def test_an_acceleration_acts_on_every_vertex(jelly):
    jelly.jounce.use_collisions = False
    jelly.jounce.spin = (0.0, 0.0, 0.0)
    jelly.jounce.push = (3.0, 0.0, 0.0)
    shown = scenes.evaluated_frames(jelly, FRAMES).mean(axis=1)
    steps = jelly.jounce.substeps * np.arange(len(FRAMES))
    h = 1.0 / (FPS * jelly.jounce.substeps)
    went = 3.0 * h * h * steps * (steps + 1) / 2.0
    assert np.allclose(shown[:, 0] - shown[0, 0], went, atol=2e-3)


def test_bodies_that_touch_each_other_stay_drafts_and_say_why(session):
    lower, upper = touching_jelly("Lower", (0.0, 0.0, 0.5)), touching_jelly("Upper", (0.0, 0.0, 1.2))
    scenes.settle_scene(3)
    collide(upper, lower)
    scenes.activate(upper)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    known = session(upper)
    assert known.final is None
    assert known.status() == "Draft: it touches Lower, and only handles touch each other"
