"""Tools for selections run in Edit Mode, with the same effect as in Object Mode."""

import bmesh
import bpy
import numpy as np
import pytest
import scenes
from test_maps import weights_of


@pytest.fixture
def column():
    """A column on two bones with Jounce and a stiffness map, not built yet."""
    obj, rig = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    for number, vertex in enumerate(obj.data.vertices):
        vertex.select = number % 3 == 0 and vertex.co.z > 1.0
    bpy.ops.jounce.map_from_selection(kind="STIFFNESS", value=0.9)
    scenes.select_bones(rig, "Upper")
    bpy.context.scene.cursor.location = (0.0, 0.0, 2.0)
    return obj, rig


def select_in_edit_mode(obj, heights):
    """Enters Edit Mode and selects the vertices in a range of heights there."""
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.scene.tool_settings.mesh_select_mode = (True, False, False)
    bpy.ops.mesh.select_all(action="DESELECT")

    edited = bmesh.from_edit_mesh(obj.data)
    for vertex in edited.verts:
        vertex.select = heights[0] < vertex.co.z < heights[1]
    bmesh.update_edit_mesh(obj.data)


TOOLS = [
    ("map_add", {"kind": "PIN"}, "Pin"),
    ("map_from_selection", {"kind": "PIN"}, "Pin"),
    ("map_from_selection", {"kind": "STIFFNESS", "value": 0.0}, "Stiffness"),
    ("map_from_bones", {"kind": "LEAK", "value": 0.2}, "Leak"),
    ("map_from_sphere", {"kind": "PIN", "radius": 30.0}, "Pin"),
    ("map_smooth", {"kind": "STIFFNESS"}, "Stiffness"),
    ("map_mirror", {"kind": "STIFFNESS"}, "Stiffness"),
    ("part_add", {"amount": 2.0}, "Part"),
]


@pytest.mark.parametrize(("name", "arguments", "group"), TOOLS)
def test_a_tool_does_in_edit_mode_what_it_does_in_object_mode(column, name, arguments, group):
    obj, _ = column
    select_in_edit_mode(obj, (0.0, 0.6))
    bpy.ops.object.mode_set(mode="OBJECT")
    before = weights_of(obj, "Stiffness")
    getattr(bpy.ops.jounce, name)(**arguments)
    expected = weights_of(obj, group)
    obj.jounce.parts.clear()
    for made in obj.vertex_groups[2:]:
        made.remove(range(len(obj.data.vertices)))
        if made.name != "Stiffness":
            obj.vertex_groups.remove(made)
    for vertex, weight in enumerate(before):
        obj.vertex_groups["Stiffness"].add([vertex], weight, "REPLACE")
    obj.data.vertices.foreach_set("select", np.ones(len(obj.data.vertices), bool))

    select_in_edit_mode(obj, (0.0, 0.6))
    assert getattr(bpy.ops.jounce, name)(**arguments) == {"FINISHED"}
    assert obj.mode == "EDIT"
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.allclose(weights_of(obj, group), expected, atol=1e-6)
    assert np.ptp(expected) > 0.1 or name == "map_add"


def test_vertices_made_in_edit_mode_count(column):
    obj, _ = column
    count = len(obj.data.vertices)
    select_in_edit_mode(obj, (1.9, 3.0))
    bpy.ops.mesh.duplicate()
    assert bpy.ops.jounce.map_from_selection(kind="PIN") == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert len(obj.data.vertices) == count + 12
    assert np.array_equal(weights_of(obj, "Pin"), np.arange(count + 12) >= count)


def test_painting_begins_from_edit_mode(column):
    obj, _ = column
    select_in_edit_mode(obj, (0.0, 0.6))
    assert bpy.ops.jounce.map_paint(kind="PIN") == {"FINISHED"}
    assert obj.mode == "WEIGHT_PAINT" and obj.vertex_groups.active.name == "Pin"
    bpy.ops.object.mode_set(mode="OBJECT")


def test_maps_are_copied_between_bodies_in_edit_mode(column):
    obj, _ = column
    other = scenes.column("Other")
    scenes.activate(other)
    bpy.ops.jounce.add()
    scenes.activate(obj, other)
    bpy.ops.object.mode_set(mode="EDIT")
    assert other.mode == "EDIT"
    assert bpy.ops.jounce.maps_copy() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert np.allclose(weights_of(other, "Stiffness"), weights_of(obj, "Stiffness"), atol=1e-3)


@pytest.mark.parametrize("name", ["stitch_selected", "stitch_nearest", "stitch_groups"])
def test_meshes_in_edit_mode_are_sewn(column, name):
    obj, rig = column
    coat = scenes.column("Coat", radius=0.35)
    scenes.skin(coat, rig, 2.0)
    coat.jounce.host = obj
    scenes.activate(obj, coat)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    arguments = {"distance": 10.0} if name == "stitch_nearest" else {}
    if name == "stitch_groups":
        arguments = {"group_a": "Lower", "group_b": "Lower"}
    assert getattr(bpy.ops.jounce, name)(**arguments) == {"FINISHED"}
    assert obj.mode == coat.mode == "EDIT"
    assert len(obj.jounce.seams[0].pairs) > 10
    bpy.ops.object.mode_set(mode="OBJECT")
