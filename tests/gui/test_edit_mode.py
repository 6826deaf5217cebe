"""Maps filled in Edit Mode in the window: the tool stays in the mode, and Ctrl+Z restores there."""

import bmesh
import bpy
import scenes


def pinned(obj):
    """Number of edited vertices in the map of pins."""
    edited = bmesh.from_edit_mesh(obj.data)
    layer, group = edited.verts.layers.deform.active, obj.vertex_groups["Pin"].index
    return sum(vertex[layer].get(group, 0.0) > 0.5 for vertex in edited.verts)


def test_a_map_is_filled_and_taken_back_in_edit_mode(window):
    obj, _ = scenes.character()
    scenes.activate(obj)
    name = obj.name
    window.invoke("jounce.add")
    window.invoke("jounce.map_add", kind="PIN")
    with window.context():
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.select_all(action="SELECT")
        bpy.ops.ed.undo_push(message="before the map")
    yield 0.2
    with window.context():
        # As a button does, with a step of undo.
        assert bpy.ops.jounce.map_from_selection("INVOKE_DEFAULT", True, kind="PIN") == {"FINISHED"}
    assert obj.mode == "EDIT" and pinned(obj) == len(obj.data.vertices)
    yield 0.2
    window.press("Z", ctrl=True)
    yield lambda: pinned(bpy.data.objects[name]) == 0
    obj = bpy.data.objects[name]
    assert obj.mode == "EDIT"
    window.press("Z", ctrl=True, shift=True)
    yield lambda: pinned(bpy.data.objects[name]) == len(obj.data.vertices)
    with window.context():
        bpy.ops.object.mode_set(mode="OBJECT")
