"""Maps and the bones that count, from vertex groups and bone collections to what is baked."""

import bpy
import numpy as np
import pytest
import scenes


@pytest.fixture
def column():
    """A column on two bones with Jounce, not built yet."""
    obj, rig = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    return obj, rig


def weights_of(obj, name):
    """Weights (p,) of a group, 0 outside of it."""
    index = obj.vertex_groups[name].index
    return np.array([sum(g.weight for g in v.groups if g.group == index) for v in obj.data.vertices])


def select_bones(rig, *names):
    """Selects these bones and no others, where this Blender keeps it."""
    selects_pose = "select" in bpy.types.PoseBone.bl_rna.properties
    for bone in rig.pose.bones if selects_pose else rig.data.bones:
        bone.select = bone.name in names


def bake(obj):
    """How far the bake moves each vertex, (f, p), in metres."""
    frames = range(1, 10)
    scenes.activate(obj)
    bpy.ops.jounce.free_bake()
    posed = scenes.evaluated_frames(obj, frames)
    bpy.ops.jounce.build()
    bpy.ops.jounce.bake(target="FRAME_KEYS", frame_start=1, frame_end=9)
    return np.linalg.norm(scenes.evaluated_frames(obj, frames) - posed, axis=2)


@pytest.mark.parametrize(
    ("kind", "setting", "name", "value"),
    [
        ("STIFFNESS", "stiffness_group", "Stiffness", 0.0),
        ("LEAK", "leak_group", "Leak", 1.0),
        ("PIN", "pin_group", "Pin", 0.0),
        ("STRENGTH", "strength_group", "Strength", 1.0),
    ],
)
def test_a_new_map_changes_nothing(column, kind, setting, name, value):
    obj, _ = column
    before = bake(obj)
    bpy.ops.jounce.map_add(kind=kind)
    assert getattr(obj.jounce, setting) == name
    assert np.allclose(weights_of(obj, name), value)
    assert np.allclose(bake(obj), before, atol=1e-5)


def test_a_map_from_the_selection(column):
    obj, _ = column
    for vertex in obj.data.vertices:
        vertex.select = vertex.co.z < 0.5
    bpy.ops.jounce.map_from_selection(kind="PIN")
    low = np.array([vertex.co.z < 0.5 for vertex in obj.data.vertices])
    assert np.allclose(weights_of(obj, "Pin"), low)
    moved = bake(obj)
    assert moved[:, low].max() < 1e-5
    assert moved[:, ~low].max() > 1e-3


def test_a_map_from_bones_blends_as_their_weights(column, module):
    obj, rig = column
    select_bones(rig, "Upper")
    bpy.ops.jounce.map_from_bones(kind="LEAK", value=0.25)
    expected = 1.0 - 0.75 * weights_of(obj, "Upper")
    assert np.allclose(weights_of(obj, "Leak"), expected, atol=1e-4)


def test_painted_stiffness_and_strength_act_where_they_are(column):
    obj, _ = column
    before = bake(obj)
    high = np.array([vertex.co.z > 1.0 for vertex in obj.data.vertices])
    for vertex, chosen in zip(obj.data.vertices, high, strict=True):
        vertex.select = bool(chosen)
    bpy.ops.jounce.map_from_selection(kind="STIFFNESS")
    stiff = bake(obj)
    assert stiff[:, high].max() / stiff.max() < 0.8 * before[:, high].max() / before.max()
    obj.jounce.stiffness_group = ""
    obj.jounce.strength = 0.0
    assert bake(obj).max() < 1e-5


def test_strength_may_be_animated(column):
    obj, _ = column
    whole = bake(obj)
    for frame, strength in ((1, 0.0), (6, 0.0), (7, 1.0)):
        obj.jounce.strength = strength
        obj.jounce.keyframe_insert("strength", frame=frame)
    moved = bake(obj)
    assert moved[:5].max() < 1e-5 < 1e-4 < moved[6:].max()
    assert whole[:5].max() > 1e-3


def test_the_bones_of_a_collection_count(column, module):
    obj, rig = column
    rig.data.collections.new("Main").assign(rig.data.bones["Lower"])
    obj.jounce.bones_counting, obj.jounce.bones_collection = "PICKED", "Main"
    bpy.ops.jounce.build()
    assert "1 of 2 bones count" in obj.jounce.built_summary
    obj.jounce.bones_counting = "ALL"
    bpy.ops.jounce.build()
    assert "2 of 2 bones count" in obj.jounce.built_summary


def test_what_maps_and_bones_refuse(column):
    obj, rig = column
    obj.jounce.bones_counting = "PICKED"
    with pytest.raises(RuntimeError, match="bone collection"):
        bpy.ops.jounce.build()
    for vertex in obj.data.vertices:
        vertex.select = False
    with pytest.raises(RuntimeError, match="No vertex of Column is selected"):
        bpy.ops.jounce.map_from_selection(kind="PIN")
    assert "Pin" not in obj.vertex_groups
    select_bones(rig)
    with pytest.raises(RuntimeError, match="select some in Pose Mode"):
        bpy.ops.jounce.map_from_bones(kind="PIN")
