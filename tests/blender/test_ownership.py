"""Data of the artist's with names of Jounce: modifiers, scenes, objects, vertex groups."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot


def ours(obj):
    """The modifiers on an object beside the scene's own."""
    return [modifier for modifier in obj.modifiers if modifier.name.startswith("Jounce")]


@pytest.fixture
def column(tmp_path):
    """A built character with its caches in a folder of the test."""
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.cache_folder = str(tmp_path)
    return obj


# Jounce's own modifier is the active one.


def activated(obj):
    """Makes Jounce's modifier the active one."""
    (own,) = ours(obj)
    obj.modifiers.active = own
    return obj


@pytest.mark.parametrize("end", ["free_bake", "remove"])
@pytest.mark.parametrize("target", ["SKINNING_NODES", "MESH_CACHE"])
def test_a_bake_whose_modifier_is_active_goes(column, target, end):
    bpy.ops.jounce.bake(target=target)
    activated(column)
    getattr(bpy.ops.jounce, end)()
    assert [modifier.name for modifier in column.modifiers] == ["Armature"]
    assert not column.jounce.bake_target


@pytest.mark.parametrize("target", ["SKINNING_NODES", "MESH_CACHE"])
def test_a_bake_whose_modifier_is_active_is_replaced(column, target):
    bpy.ops.jounce.bake(target=target)
    shown = scenes.evaluated_frames(activated(column), range(1, 13))
    assert bpy.ops.jounce.bake(target=target) == {"FINISHED"}
    assert [modifier.name for modifier in column.modifiers] == ["Armature", "Jounce"]
    assert np.array_equal(scenes.evaluated_frames(column, range(1, 13)), shown)


def test_a_preview_whose_modifier_is_active_goes_off(column):
    bpy.ops.jounce.preview()
    activated(column)
    bpy.ops.jounce.preview()
    assert [modifier.name for modifier in column.modifiers] == ["Armature"]


# Scenes and objects beside the artist's.


def stage_names():
    """Objects, meshes and scenes of the artist's with the names of Jounce's own, saved with the file."""
    for name in ("Jounce Stage", "Jounce Stage.001", "Jounce Double Column", "Jounce Double"):
        made = scenes.column(name)
        made.data.name = name
    bpy.data.scenes.new("Jounce Stage act two")
    return {block.name for block in (*bpy.data.objects, *bpy.data.meshes, *bpy.data.scenes)}


def names_now():
    return {block.name for block in (*bpy.data.objects, *bpy.data.meshes, *bpy.data.scenes)}


def test_what_is_called_as_a_stage_stays_when_a_file_is_opened(tmp_path):
    names = stage_names()
    path = str(tmp_path / "stage.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert names_now() == names


def test_what_is_called_as_a_stage_stays_through_undo():
    names = stage_names()
    for step in ("made", "more"):
        bpy.ops.ed.undo_push(message=step)
    bpy.ops.ed.undo()
    assert names_now() == names


def test_a_file_whose_active_scene_is_called_as_a_stage_opens(tmp_path):
    bpy.context.scene.name = "Jounce Stage"
    path = str(tmp_path / "stage.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    assert bpy.context.scene.name == "Jounce Stage"


def staged(module, obj):
    """A stage of a body, left open."""
    body_scene = module("bridge.body.bodies").read(obj, bpy.context, print)
    body = module("core.body.built_bodies").CACHE.get(obj.jounce.built_digest)
    motions = module("bridge.motions.motions").Motions(body, body_scene)
    return module("bridge.motions.scratch_scene").Stage(motions, bpy.context.scene)


def test_a_stage_that_was_left_goes_whatever_it_is_called(column, module):
    before = snapshot.file_state() | {"scenes": bpy.data.scenes.keys()}
    staged(module, column)
    for blocks in (bpy.data.scenes, bpy.data.objects):
        for block in [block for block in blocks if block.name.startswith("Jounce Stage")]:
            block.name = "Something else"
    module("bridge.motions.scratch_scene").clear()
    assert snapshot.file_state() | {"scenes": bpy.data.scenes.keys()} == before


def test_a_stage_that_holds_something_of_the_artists_stays(column, module):
    staged(module, column)
    (stage,) = (scene for scene in bpy.data.scenes if scene.name.startswith("Jounce Stage"))
    lamp = bpy.data.objects.new("Lamp", None)
    stage.collection.objects.link(lamp)
    module("bridge.motions.scratch_scene").clear()
    assert stage in bpy.data.scenes.values() and lamp.name in stage.objects
    stage.collection.objects.unlink(lamp)
    module("bridge.motions.scratch_scene").clear()
    assert len(bpy.data.scenes) == 1


def test_a_stage_that_is_the_current_scene_stays_until_it_is_not(column, module):
    own = bpy.context.scene
    staged(module, column)
    window = bpy.context.window_manager.windows[0]
    window.scene = next(scene for scene in bpy.data.scenes if scene != own)
    module("bridge.motions.scratch_scene").clear()
    assert len(bpy.data.scenes) == 2
    window.scene = own
    module("bridge.motions.scratch_scene").clear()
    assert list(bpy.data.scenes) == [own]


# Maps.


def test_a_new_map_takes_no_group_and_no_bone_for_its_own(module):
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    coat.parent = rig
    scenes.skin(coat, rig, 2.0)
    obj.vertex_groups.new(name="Pin").add([1, 2, 3], 0.5, "REPLACE")
    coat.vertex_groups.new(name="Pin.001").add([4], 0.5, "REPLACE")
    rig.data.bones["Upper"].name = "Stiffness"
    scenes.activate(obj, coat)
    bpy.ops.jounce.add()
    before = snapshot.mesh_state(obj.data)["weights"]
    groups = obj.vertex_groups.keys()
    for kind in ("PIN", "STIFFNESS"):
        bpy.ops.jounce.map_smooth(kind=kind)
    assert obj.jounce.pin_group == "Pin.002" and obj.jounce.stiffness_group == "Stiffness.001"
    assert obj.vertex_groups.keys() == [*groups, "Pin.002", "Stiffness.001"]
    kept = [weight for weight in snapshot.mesh_state(obj.data)["weights"] if weight[1] < len(groups)]
    assert kept == before


def test_a_map_that_is_named_is_the_one_that_is_filled():
    obj, _ = scenes.character()
    obj.vertex_groups.new(name="Pin")
    scenes.activate(obj)
    bpy.ops.jounce.add()
    obj.jounce.pin_group = "Pin"
    for vertex in obj.data.vertices:
        vertex.select = vertex.co.z > 1.0
    bpy.ops.jounce.map_from_selection(kind="PIN")
    assert obj.vertex_groups.keys() == ["Lower", "Upper", "Pin"]
    pinned = [obj.vertex_groups["Pin"].weight(vertex.index) for vertex in obj.data.vertices if vertex.select]
    assert set(pinned) == {1.0}
