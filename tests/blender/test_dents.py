"""Dents of the shown skin by colliders, in previews and bakes."""

import bpy
import numpy as np
import pytest
import scenes
from test_collisions import FRAMES, beyond, character, collide, wall

__all__ = ["character", "wall"]


@pytest.fixture
def stopped(character, wall):
    """The column as a draft among the wall, and its frames in the preview."""
    obj, _ = character
    collide(obj, wall)
    obj.jounce.quality = "DRAFT"
    bpy.ops.jounce.preview()
    return obj, scenes.evaluated_frames(obj, FRAMES)


def test_the_skin_of_a_draft_takes_the_shape_of_a_wall(stopped, session):
    obj, shown = stopped
    direction = session(obj).direction
    modes = [direction.best(row)[0] for row in range(len(FRAMES))]
    frames = [session(obj).dented.best(row)[0] for row in range(len(FRAMES))]
    dented = [row for row in range(len(FRAMES)) if modes[row] is not frames[row]]
    assert 0 < len(dented) < len(FRAMES)
    assert beyond(shown) < 1e-3


def test_skinning_nodes_play_the_modes_alone(stopped):
    obj, shown = stopped
    bpy.ops.jounce.preview()
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    assert obj.jounce.bake_error < 1e-6
    nodes = scenes.evaluated_frames(obj, FRAMES)
    assert beyond(nodes) > 0.005 and np.abs(nodes - shown).max() > 0.005


def test_flesh_that_does_not_collide_is_not_dented(stopped, wall, session):
    """With the integrator Lively, among a wall whose size would be refused."""
    obj, _ = stopped
    obj.jounce.integrator = "bdf2"
    for frame, size in ((FRAMES[0], 1.0), (FRAMES[-1], 2.0)):
        wall.scale = (size, size, size)
        wall.keyframe_insert("scale", frame=frame)
    bpy.ops.jounce.fill_cache()
    known = session(obj)
    assert all(known.dented.best(row)[0] is known.direction.best(row)[0] for row in range(len(FRAMES)))
    shown = scenes.evaluated_frames(obj, FRAMES)
    assert beyond(shown) > 0.1
    bpy.ops.jounce.preview()
    scenes.activate(obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert np.abs(scenes.evaluated_frames(obj, FRAMES) - shown).max() < 2e-6


def test_a_key_of_dented_flesh_is_the_motion_below(stopped):
    obj, shown = stopped
    bpy.ops.jounce.fill_cache()
    frame = FRAMES[int(np.argmin([each[:, 1].min() for each in shown]))]
    bpy.context.scene.frame_set(frame)
    bpy.ops.jounce.key_flesh()
    bpy.ops.jounce.fill_cache()
    assert np.abs(scenes.evaluated_frames(obj, FRAMES) - shown).max() < 2e-6
