"""Regions: several maps at once, on a selection, on selected bones' flesh, or around the cursor."""

import bpy
import numpy as np
import pytest
import scenes
from test_maps import weights_of


@pytest.fixture
def column():
    """A column on two bones with Jounce, its upper half selected."""
    obj, rig = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    for vertex in obj.data.vertices:
        vertex.select = vertex.co.z > 1.01
    return obj, rig


def test_a_region_differs_from_the_rest(column):
    obj, _ = column
    upper = np.array([vertex.select for vertex in obj.data.vertices])
    assert bpy.ops.jounce.region(stiffness=0.1, elsewhere=0.7, strength=0.5) == {"FINISHED"}
    assert np.allclose(weights_of(obj, "Stiffness"), np.where(upper, 0.1, 0.7), atol=1e-4)
    assert np.allclose(weights_of(obj, "Strength"), np.where(upper, 0.5, 1.0), atol=1e-4)
    assert "Leak" not in obj.vertex_groups
    assert (obj.jounce.stiffness_group, obj.jounce.leak_group) == ("Stiffness", "")


def test_around_a_region_nothing_changes(column):
    obj, _ = column
    upper = np.array([vertex.select for vertex in obj.data.vertices])
    bpy.ops.jounce.region(stiffness=0.0)
    assert np.array_equal(weights_of(obj, "Stiffness"), np.where(upper, 0.0, 0.5))
    assert obj.jounce.stiffness_centred


def test_a_second_region_keeps_the_first(column):
    obj, rig = column
    bpy.ops.jounce.region(stiffness=0.1, elsewhere=0.7)
    scenes.select_bones(rig, "Lower")
    bpy.ops.jounce.region(where="BONES", stiffness=1.0, elsewhere=0.2)
    heights = np.array([vertex.co.z for vertex in obj.data.vertices])
    weights = weights_of(obj, "Stiffness")
    assert np.allclose(weights[heights > 1.9], 0.1, atol=1e-4)
    assert np.allclose(weights[heights < 0.1], 1.0, atol=1e-4)
    bpy.context.scene.cursor.location = (0.0, 0.0, 2.0)
    bpy.ops.jounce.region(where="CURSOR", radius=20.0, stiffness=1.0)
    assert weights_of(obj, "Stiffness")[heights > 1.9].max() < 1.0
    assert weights_of(obj, "Stiffness")[heights > 1.9].max() > 0.1


def test_without_a_part_nothing_changes(column):
    obj, _ = column
    for vertex in obj.data.vertices:
        vertex.select = False
    with pytest.raises(RuntimeError, match="No vertex of Column is selected"):
        bpy.ops.jounce.region(stiffness=0.1)
    assert "Stiffness" not in obj.vertex_groups


def test_blender_finds_our_presets(column, module):
    paths = bpy.utils.preset_paths("operator/jounce.region")
    assert {"Belly", "Ears", "Tail"} <= module("core.preset_values").found(paths).keys()
