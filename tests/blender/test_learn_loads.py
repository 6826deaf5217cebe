"""Loads on learnt flesh: limits, accelerations and force fields, and refusals."""

import bpy
import numpy as np
import pytest
import scenes
from previews import FRAMES, shown


@pytest.fixture
def character():
    """A built character with limits off until a test switches them on."""
    obj, rig = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.use_limit = obj.jounce.use_stretch = False
    return obj, rig


def test_limits_hold_what_was_learnt(character, session, lessons):
    obj, _ = character
    obj.jounce.use_stretch = obj.jounce.use_limit = True
    obj.jounce.limit = 8.0
    posed = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.learn()
    known = lessons.of(obj)
    assert known.facts.error < 0.1 and len(known.limit_tets) and len(known.limit_vertices)
    bpy.ops.jounce.preview()
    held, final = shown(obj, "LEARNT"), shown(obj, "FINAL")
    size = np.linalg.norm(final - posed)
    assert np.linalg.norm(held - final) < 0.1 * size
    for limit in ("use_stretch", "use_limit"):
        setattr(obj.jounce, limit, False)
        free = shown(obj, "LEARNT")
        assert np.linalg.norm(free - held) > 0.05 * size, limit
        setattr(obj.jounce, limit, True)


def test_pushes_and_fields_move_what_was_learnt(character, session, lessons):
    obj, _ = character
    # A softer column crumples, each way differently.
    obj.jounce.frequency, obj.jounce.push = 20.0, (12.0, 0.0, 0.0)
    bpy.ops.object.effector_add(type="WIND", rotation=(1.57, 0.0, 0.0))
    bpy.context.object.field.strength, bpy.context.object.field.flow = 4.0, 0.0
    scenes.activate(obj)
    posed = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.learn()
    assert lessons.of(obj).facts.error < 0.05
    bpy.ops.jounce.preview()
    found, final = shown(obj, "LEARNT"), shown(obj, "FINAL")
    size = np.linalg.norm(final - posed)
    assert np.linalg.norm(found - final) < 0.05 * size
    found = shown(obj, "LEARNT")
    assert "from Final" in session(obj).status()
    obj.jounce.push = (-12.0, 0.0, 0.0)
    other = shown(obj, "LEARNT")
    assert np.linalg.norm(other - found) > 0.2 * size
    assert "from Final" not in session(obj).status()
    assert np.linalg.norm(other - shown(obj, "FINAL")) < 0.3 * np.linalg.norm(other - found)


def test_flesh_that_is_pushed_is_held_by_hand_and_loops(character, session):
    obj, rig = character
    obj.jounce.push = (3.0, 0.0, 0.0)
    bpy.ops.jounce.learn()
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    bpy.context.scene.frame_set(12)
    known = session(obj)
    before = scenes.evaluated(obj)
    rig.location.x = 0.5
    bpy.context.view_layer.update()
    assert known.interactive.shaper is known.final.fine
    known._due = 0.0
    known.work(bpy.context, 0.0)
    bpy.context.view_layer.update()
    assert np.abs(scenes.evaluated(obj) - before).max() > 1e-3
    rig.location.x = 0.0
    rig.animation_data.action = None
    obj.jounce.loop = True
    bpy.ops.jounce.learn()
    looped = shown(obj, "LEARNT")
    assert np.linalg.norm(looped - shown(obj, "FINAL")) < 0.05 * np.linalg.norm(looped - before)


def test_what_slows_motion_down_does_so_to_what_was_learnt(character, lessons):
    obj, _ = character
    posed = scenes.evaluated_frames(obj, FRAMES)
    bpy.ops.jounce.preview()
    free = shown(obj, "FINAL")
    bpy.ops.object.effector_add(type="WIND", rotation=(1.57, 0.0, 0.0))
    bpy.context.object.field.strength, bpy.context.object.field.flow = 6.0, 4.0
    bpy.ops.object.effector_add(type="DRAG")
    bpy.context.object.field.linear_drag, bpy.context.object.field.quadratic_drag = 0.5, 2.0
    scenes.activate(obj)
    final = shown(obj, "FINAL")
    size = np.linalg.norm(final - posed)
    assert np.linalg.norm(final - free) > 0.3 * size
    bpy.ops.jounce.learn()
    assert lessons.of(obj).facts.error < 0.08
    assert np.linalg.norm(shown(obj, "LEARNT") - final) < 0.08 * size
