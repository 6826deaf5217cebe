"""Pinned props: one click finds the root of grass, ropes, lamps and plants, and they sway from there."""

import bpy
import numpy as np
import pytest
import scenes

FRAMES = range(1, 25)


def test_a_column_on_the_ground_is_pinned_where_it_touches():
    ground = scenes.mesh_object("Ground", [(-5, -5, 0), (5, -5, 0), (5, 5, 0), (-5, 5, 0)], [(0, 1, 2, 3)])
    rod = scenes.column("Antenna", height=1.0, radius=0.01, rings=20, sides=8)
    scenes.settle_scene(24)
    scenes.activate(rod)
    assert bpy.ops.jounce.setup() == {"FINISHED"}
    assert rod.jounce.is_pinned
    print(rod.jounce.built_summary)
    rod.keyframe_insert("location", frame=1)
    rod.location.x = 0.3
    rod.keyframe_insert("location", frame=5)
    shown = scenes.evaluated_frames(rod, FRAMES)
    print(np.round(shown[:, -1, 0], 3), np.round(shown[:, 0, 0], 3))
    assert bpy.ops.jounce.bake() == {"FINISHED"}
    bpy.ops.jounce.remove()
