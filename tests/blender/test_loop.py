"""Bakes that loop."""

import math

import bpy
import numpy as np
import pytest
import scenes


def test_the_last_frame_of_a_loop_meets_the_first():
    obj, rig = scenes.character()
    pose = rig.pose.bones["Upper"]
    for frame in range(1, 27):
        pose.rotation_euler = (0.5 * math.sin(2.0 * math.pi * (frame - 1) / 24.0), 0.0, 0.0)
        pose.keyframe_insert("rotation_euler", frame=frame)
    scenes.settle_scene(25)
    scenes.add_and_build(obj)
    obj.jounce.loop = True
    posed = scenes.evaluated_frames(obj, range(1, 26))
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=25)
    baked = scenes.evaluated_frames(obj, range(1, 26))
    assert np.abs(baked - posed).max() > 1e-2
    assert np.abs(baked[-1] - baked[0]).max() < 2e-4 * 2.1
    assert 0.0 < obj.jounce.bake_seam < 1e-4
    with pytest.raises(RuntimeError, match="another pose than the first"):
        bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=20)
