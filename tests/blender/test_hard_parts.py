"""Faces marked as rigid: in any mode, through undo, copies and files, and removed with Jounce."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from libraries import build, make_library, override


@pytest.fixture
def column():
    """A column on two bones with Jounce and a core."""
    obj, rig = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    obj.jounce.bone_core = 0.5
    return obj, rig


@pytest.fixture
def hard(module):
    """The hard vertices of a mesh, by their indices."""
    return lambda obj: np.flatnonzero(module("bridge.body.hard_parts").hard_points(obj)).tolist()


def choose(obj, *faces):
    """Selects faces of a mesh, and nothing else."""
    mode = obj.mode
    scenes.activate(obj)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.context.scene.tool_settings.mesh_select_mode = (False, False, True)
    bpy.ops.mesh.select_all(action="DESELECT")
    bpy.ops.object.mode_set(mode="OBJECT")
    for face in faces:
        obj.data.polygons[face].select = True
    # Once more, to make edges and vertices agree.
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.object.mode_set(mode=mode)


def corners(obj, *faces):
    """The vertices of faces."""
    return sorted({vertex for face in faces for vertex in obj.data.polygons[face].vertices})


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT", "WEIGHT_PAINT"])
def test_selected_faces_are_marked_and_cleared(column, hard, mode):
    obj, _ = column
    choose(obj, 3, 4)
    bpy.ops.object.mode_set(mode=mode)
    assert bpy.ops.jounce.mark_rigid() == {"FINISHED"}
    assert obj.mode == mode
    bpy.ops.object.mode_set(mode="OBJECT")
    assert hard(obj) == corners(obj, 3, 4)
    choose(obj, 4)
    bpy.ops.object.mode_set(mode=mode)
    assert bpy.ops.jounce.mark_rigid(clear=True) == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert hard(obj) == corners(obj, 3)


def test_the_core_keeps_them_and_the_colours_show_them(module, column):
    obj, _ = column
    bpy.ops.jounce.build()
    cache, fields = module("core.body.built_bodies").CACHE, module("core.display.fields")
    soft, _ = fields.at_rest(fields.Field.CORE, cache.get(obj.jounce.built_digest), 0, 1.0)
    # In the widest part of the upper half, nothing else is in the core.
    faces = [face.index for face in obj.data.polygons if 1.3 < face.center.z < 1.7]
    choose(obj, *faces[: len(faces) // 2])
    bpy.ops.jounce.mark_rigid()
    bpy.ops.jounce.build()
    body = cache.get(obj.jounce.built_digest)
    marked = corners(obj, *faces[: len(faces) // 2])
    assert body.pinned[body.mesh.tets[body.embedding.tets[marked]]].all()
    shown, _ = fields.at_rest(fields.Field.CORE, body, 0, 1.0)
    assert np.allclose(shown[marked], 1.0) and soft[marked].min() < 0.9


def test_a_preview_follows(module, column):
    obj, _ = column
    bpy.ops.jounce.preview()
    before = obj.jounce.built_digest
    choose(obj, 30)
    bpy.ops.jounce.mark_rigid()
    bpy.context.view_layer.update()
    bpy.ops.jounce.fill_cache()
    assert obj.jounce.built_digest != before


def test_marks_stay_through_editing_copying_and_saving(column, hard, tmp_path):
    obj, _ = column
    choose(obj, 3)
    bpy.ops.jounce.mark_rigid()
    kept = [tuple(obj.data.vertices[v].co) for v in hard(obj)]
    choose(obj, 100)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.delete(type="FACE")
    bpy.ops.object.mode_set(mode="OBJECT")
    assert [tuple(obj.data.vertices[v].co) for v in hard(obj)] == kept
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    assert copy != obj and hard(copy) == hard(obj)
    path = str(tmp_path / "column.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Column"]
    assert [tuple(obj.data.vertices[v].co) for v in hard(obj)] == kept


def test_undo_takes_a_mark_back_and_redo_sets_it(column, hard):
    obj, _ = column
    choose(obj, 3)
    bpy.ops.ed.undo_push(message="before")
    bpy.ops.jounce.mark_rigid()
    bpy.ops.ed.undo_push(message="mark")
    bpy.ops.ed.undo()
    assert hard(bpy.data.objects["Column"]) == []
    bpy.ops.ed.redo()
    assert hard(bpy.data.objects["Column"]) != []


def test_an_attribute_of_the_artist_that_is_called_so_stays(column, hard):
    obj, _ = column
    theirs = obj.data.attributes.new("jounce_rigid", "FLOAT", "POINT")
    theirs.data[0].value = 3.0
    choose(obj, 3)
    bpy.ops.jounce.mark_rigid()
    assert hard(obj) == corners(obj, 3)
    assert obj.data.attributes["jounce_rigid"].data[0].value == 3.0
    bpy.ops.jounce.remove()
    assert [a.name for a in obj.data.attributes if a.name.startswith("jounce")] == ["jounce_rigid"]


@pytest.mark.parametrize("mode", ["OBJECT", "EDIT"])
def test_remove_takes_them_off(mode):
    obj, _ = scenes.character()
    choose(obj, 3)
    before = snapshot.snapshot(obj)
    bpy.ops.jounce.add()
    bpy.ops.jounce.mark_rigid()
    assert snapshot.differences(before, snapshot.snapshot(obj)) != []
    bpy.ops.object.mode_set(mode=mode)
    bpy.ops.jounce.remove()
    bpy.ops.object.mode_set(mode="OBJECT")
    assert snapshot.differences(before, snapshot.snapshot(obj)) == []


def test_all_meshes_that_are_edited_are_marked(column, hard):
    obj, rig = column
    coat = scenes.column("Coat", radius=0.35)
    scenes.skin(coat, rig, 2.0)
    coat.jounce.host = obj
    stone = scenes.column("Stone")
    for mesh in (obj, coat, stone):
        choose(mesh, 3)
    scenes.activate(obj, coat, stone)
    bpy.ops.object.mode_set(mode="EDIT")
    assert bpy.ops.jounce.mark_rigid() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")
    assert hard(obj) == hard(coat) == corners(obj, 3)
    assert "jounce_rigid" not in stone.data.attributes and not stone.is_property_set("jounce")


def test_what_cannot_be_marked_is_refused(column, tmp_path):
    obj, _ = column
    choose(obj)
    before = snapshot.snapshot(obj)
    with pytest.raises(RuntimeError, match="No face of Column is selected; select some in Edit Mode first"):
        bpy.ops.jounce.mark_rigid()
    assert snapshot.differences(before, snapshot.snapshot(obj)) == []
    library = make_library(tmp_path / "library.blend", build)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    obj, _, _ = override(library)
    scenes.activate(obj)
    with pytest.raises(RuntimeError, match="is linked from another file, so it cannot be painted here"):
        bpy.ops.jounce.mark_rigid()
