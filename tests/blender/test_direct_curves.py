"""Directed flesh: curves of bodies and parts, in preview, loops and bakes."""

import itertools

import bpy
import numpy as np
import previews
import pytest
import scenes
from directed import FRAMES, SIZE, bulge, character, differing, posed, shapes


@pytest.mark.parametrize(
    ("name", "values"),
    [("exaggerate", (0.0, 0.5, 1.0, 2.0, 3.0)), ("follow_through", (0.25, 0.5, 1.0, 2.0, 4.0))],
)
def test_each_step_of_a_curve_is_seen_at_once(name, values):
    obj, _ = character()
    rigged = posed(obj, range(16, 25))
    moved = []
    for value in values:
        setattr(obj.jounce, name, value)
        moved.append(float(np.abs(shapes(obj, range(16, 25)) - rigged).mean()))
    assert all(after > 1.05 * before for before, after in itertools.pairwise(moved)), moved


def test_lead_and_lag_move_the_peak():
    obj, _ = character()
    rigged = posed(obj)
    sizes = {}
    for lag in (-3.0, 0.0, 3.0):
        obj.jounce.lag = lag
        sizes[lag] = np.linalg.norm(shapes(obj) - rigged, axis=2).max(axis=1)
    rows = range(4, len(FRAMES) - 4)
    for row in rows:
        assert np.isclose(sizes[3.0][row], sizes[0.0][row - 3], rtol=1e-3, atol=1e-5)
        assert np.isclose(sizes[-3.0][row], sizes[0.0][row + 3], rtol=1e-3, atol=1e-5)


def test_keyed_curves_act_by_frame_in_preview_and_bake():
    obj, _ = character()
    before, rigged = shapes(obj), posed(obj)
    for frame, value in ((8, 1.0), (10, 3.0), (14, 3.0), (16, 1.0)):
        obj.jounce.exaggerate = value
        obj.keyframe_insert("jounce.exaggerate", frame=frame)
    bpy.ops.jounce.fill_cache()
    shown = shapes(obj)
    assert differing(before, shown) == list(range(9, 16))
    row = 12 - FRAMES.start
    assert np.allclose(shown[row] - rigged[row], 3.0 * (before[row] - rigged[row]), atol=1e-5)
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=FRAMES.start, frame_end=FRAMES.stop - 1)
    assert np.abs(shapes(obj) - shown).max() < 1e-6 * SIZE


def test_a_part_has_curves_of_its_own(module):
    obj, _ = character()
    before, rigged = shapes(obj), posed(obj)
    for vertex in obj.data.vertices:
        vertex.select = vertex.co.z > 1.4
    bpy.ops.jounce.part_add(part_name="Top", rim=0.0)
    bpy.ops.jounce.direction_add()
    bpy.ops.jounce.fill_cache()
    obj.jounce.directions["Top"].exaggerate = 2.5
    after, row = shapes(obj), 8
    top = np.array([vertex.select for vertex in obj.data.vertices])
    far = np.array([vertex.co.z < 1.0 for vertex in obj.data.vertices])
    assert np.allclose(after[row][top] - rigged[row][top], 2.5 * (before[row] - rigged[row])[top], atol=1e-4)
    assert np.allclose(after[row][far], before[row][far], atol=1e-6)
    obj.jounce.directions["Top"].exaggerate = 2.0
    obj.keyframe_insert("jounce.directions[0].exaggerate", frame=1)
    bpy.ops.jounce.direction_remove()
    assert len(obj.jounce.directions) == 0
    assert not module("bridge.inputs.directions").animated(obj)


def test_a_loop_with_a_key_and_lag_closes():
    obj, rig = scenes.character()
    pose = rig.pose.bones["Upper"]
    for frame in (1, 5, 8, 9):
        pose.keyframe_delete("rotation_euler", frame=frame)
    for frame, angle in ((1, 0.0), (7, 0.5), (19, -0.5), (25, 0.0)):
        pose.rotation_euler = (angle, 0.0, 0.0)
        pose.keyframe_insert("rotation_euler", frame=frame)
    scenes.settle_scene(25)
    scenes.add_and_build(obj)
    obj.jounce.quality, obj.jounce.loop = "DRAFT", True
    bpy.ops.jounce.preview(show="FLESH")
    bpy.ops.jounce.fill_cache()
    before = shapes(obj, range(1, 26))
    bpy.context.scene.frame_set(24)
    obj.jounce.lag = 3.0
    bpy.ops.jounce.key_flesh()
    obj.jounce.lag = 0.0
    key = obj.jounce.flesh_key
    key.before = key.after = 6
    after = shapes(obj, range(1, 26))
    changed = [row + 1 for row in range(25) if not np.array_equal(after[row], before[row])]
    assert changed == [1, 2, 3, 4, 5, *range(19, 26)]
    assert np.abs(after[0] - after[-1]).max() < 1e-4
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert np.abs(shapes(obj, range(1, 26)) - after).max() < 1e-5


def test_animated_damping_directs_alike_in_any_order_and_in_the_bake(module):
    obj, _ = character()
    for frame, value in ((1, 0.1), (24, 0.9)):
        obj.jounce.damping = value
        obj.keyframe_insert("jounce.damping", frame=frame)
    bpy.ops.jounce.fill_cache()
    bulge(module, obj, 12)
    obj.jounce.follow_through = 2.0
    forwards = shapes(obj)
    for frame in (20, 3, 14, 9, 23, 11):
        assert np.array_equal(previews.shape(obj, frame), forwards[frame - FRAMES.start])
    bpy.context.scene.frame_set(24)
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=FRAMES.start, frame_end=FRAMES.stop - 1)
    assert np.abs(shapes(obj) - forwards).max() < 1e-6 * SIZE
