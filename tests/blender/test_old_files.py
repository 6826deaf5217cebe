"""Files of the first released version, with data recognised by name, are freed as in that version."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot

FRAMES = range(1, 13)
TARGETS = ("FRAME_KEYS", "MODAL_KEYS", "SKINNING_NODES", "MESH_CACHE", "HELPER_BONES")
MARKS = ("jounce_made", "jounce_keys", "jounce_attributes", "jounce_preview")
RECORDS = ("format", "bake_modifier", "bake_modifier_name", "bake_cache", "bake_blend")
COLLECTIONS = ("objects", "meshes", "shape_keys", "actions", "armatures", "node_groups", "collections")


def opened_as_old(path):
    """Saves the file without all later data, and opens it."""
    for kind in COLLECTIONS:
        for block in getattr(bpy.data, kind):
            for mark in MARKS:
                block.pop(mark, None)
    for obj in bpy.data.objects:
        if obj.is_property_set("jounce"):
            for name in RECORDS:
                obj.jounce.property_unset(name)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    bpy.ops.wm.open_mainfile(filepath=str(path))
    obj = bpy.data.objects["Column"]
    scenes.activate(obj)
    return obj


def saved_column(folder):
    """A built character in a saved file."""
    obj, _ = scenes.character()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "shot.blend"))
    scenes.add_and_build(obj)
    return obj


def state(obj):
    """The object, and the data-blocks and collections of the file."""
    found = snapshot.file_state() | {"collections": bpy.data.collections.keys()}
    seen = snapshot.snapshot(obj)
    for part, block in ((seen, obj), (seen["mesh"], obj.data)):
        # Opening a file moves these in memory, which changes their texts.
        part["custom"] = sorted(block.keys())
    return {"file": found, "object": seen}


@pytest.mark.parametrize("end", ["free_bake", "remove"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_bake_is_freed(tmp_path, target, end):
    obj = saved_column(tmp_path)
    before = state(obj)
    bpy.ops.jounce.bake(target=target)
    shown = scenes.evaluated_frames(obj, FRAMES)
    obj = opened_as_old(tmp_path / "shot.blend")
    assert obj.jounce.format == 1
    assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), shown)
    getattr(bpy.ops.jounce, end)()
    after = state(obj)
    before["object"]["custom"] = after["object"]["custom"]
    assert snapshot.differences(before, after) == []
    bpy.ops.wm.save_mainfile()
    assert not list(tmp_path.glob("*.pc2"))


@pytest.mark.parametrize("target", TARGETS)
def test_a_bake_is_replaced(tmp_path, target):
    obj = saved_column(tmp_path)
    bpy.ops.jounce.bake(target=target)
    names, file = names_on(obj), state(obj)["file"]
    obj = opened_as_old(tmp_path / "shot.blend")
    bpy.ops.jounce.bake(target=target)
    assert names_on(obj) == names
    assert snapshot.differences(file, state(obj)["file"]) == []


def names_on(obj):
    """The names of the modifiers and shape keys of an object."""
    keys = obj.data.shape_keys
    return obj.modifiers.keys(), [] if keys is None else keys.key_blocks.keys()


def test_a_preview_is_taken_off(tmp_path):
    obj = saved_column(tmp_path)
    before = state(obj)
    bpy.ops.jounce.preview()
    obj = opened_as_old(tmp_path / "shot.blend")
    assert [modifier.name for modifier in obj.modifiers] == ["Armature", "Jounce"]
    bpy.ops.jounce.preview()
    after = state(obj)
    before["object"]["custom"] = after["object"]["custom"]
    assert snapshot.differences(before, after) == []


def test_what_no_record_names_stays(tmp_path):
    obj = saved_column(tmp_path)
    for name in ("Basis", "jounce: mine"):
        obj.shape_key_add(name=name)
    obj.data.shape_keys.key_blocks["jounce: mine"].keyframe_insert("value", frame=1)
    obj.modifiers.new("Jounce", "MESH_CACHE").show_viewport = False
    bpy.data.node_groups.new("Jounce Preview", "GeometryNodeTree").use_fake_user = True
    obj.modifiers.new("Jounce nodes", "NODES").node_group = bpy.data.node_groups["Jounce Preview"]
    before = state(obj)
    obj = opened_as_old(tmp_path / "shot.blend")
    bpy.ops.jounce.free_bake()
    assert snapshot.differences(before, state(obj)) == []
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    obj = opened_as_old(tmp_path / "shot.blend")
    bpy.ops.jounce.free_bake()
    assert snapshot.differences(before, state(obj)) == []


def test_keys_beyond_the_recorded_number_stay(tmp_path):
    obj = saved_column(tmp_path)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    for name in ("jounce: mine", "jounce: keyed"):
        obj.shape_key_add(name=name)
    obj.data.shape_keys.key_blocks["jounce: keyed"].keyframe_insert("value", frame=1)
    obj = opened_as_old(tmp_path / "shot.blend")
    bpy.ops.jounce.free_bake()
    assert obj.data.shape_keys.key_blocks.keys() == ["Basis", "jounce: mine", "jounce: keyed"]
    (curve,) = snapshot.fcurves(obj.data.shape_keys.animation_data.action)
    assert curve.data_path == 'key_blocks["jounce: keyed"].value'


def test_a_bake_that_is_appended_is_freed(tmp_path):
    obj = saved_column(tmp_path)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    opened_as_old(tmp_path / "old.blend")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "old.blend")) as (_, wanted):
        wanted.objects = ["Column"]
    (obj,) = wanted.objects
    bpy.context.scene.collection.objects.link(obj)
    scenes.activate(obj)
    bpy.ops.jounce.free_bake()
    assert obj.data.shape_keys is None and not [a for a in bpy.data.actions if "Jounce" in a.name]
