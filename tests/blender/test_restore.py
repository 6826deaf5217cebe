"""Freeing and removing restore objects, keys and the file exactly."""

import bpy
import pytest
import scenes
import snapshot
from matrices import crossed


def state(*objects):
    """Everything a bake could have touched, in the evaluated state of the current frame."""
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    return {"file": snapshot.file_state()} | {obj.name: snapshot.snapshot(obj) for obj in objects}


def with_keys(obj):
    """An artist's keys: one muted, one relative to another, with their own settings."""
    for name in ("Basis", "Smile", "Frown"):
        obj.shape_key_add(name=name)
    blocks = obj.data.shape_keys.key_blocks
    blocks["Smile"].points[7].co.x += 0.3
    blocks["Smile"].value, blocks["Smile"].slider_max = 0.4, 2.0
    blocks["Frown"].mute, blocks["Frown"].relative_key = True, blocks["Smile"]
    obj.active_shape_key_index = 1


def with_action(obj):
    """Keys moved by an artist's action."""
    with_keys(obj)
    obj.data.shape_keys.key_blocks["Smile"].keyframe_insert("value", frame=1)
    obj.data.shape_keys.key_blocks["Smile"].keyframe_insert("value", frame=9)


def with_strip(obj):
    """Keys moved by an artist's NLA track."""
    with_action(obj)
    data = obj.data.shape_keys.animation_data
    action = data.action
    data.action = None
    data.nla_tracks.new().strips.new("Theirs", 1, action)


def with_driver(obj):
    """A key moved by a driver."""
    with_keys(obj)
    obj.data.shape_keys.key_blocks["Smile"].driver_add("value").driver.expression = "frame / 10"


def with_decoration(obj):
    """Materials, attributes, custom properties and modifiers after the armature."""
    for name in ("Skin", "Cloth"):
        obj.data.materials.append(bpy.data.materials.new(name))
    obj.data.polygons[3].material_index = 1
    obj.data.attributes.new("heat", "FLOAT", "POINT").data[2].value = 0.5
    obj.data.uv_layers.new(name="UVMap")
    obj["mood"] = "calm"
    obj.data["year"] = 1999
    obj.modifiers.new("Smooth", "SUBSURF").levels = 1
    obj.show_only_shape_key = False


def plain(_obj):
    """Nothing of the artist's."""


TARGETS = ("MODAL_KEYS", "FRAME_KEYS", "SKINNING_NODES", "MESH_CACHE")
SETUPS = (plain, with_keys, with_action, with_strip, with_driver, with_decoration)


@pytest.mark.parametrize(("setup", "target"), crossed(SETUPS, TARGETS))
def test_remove_restores_everything(setup, target, tmp_path):
    obj, rig = scenes.character()
    setup(obj)
    before = state(obj)
    scenes.add_and_build(obj)
    obj.jounce.cache_folder = str(tmp_path)
    bpy.ops.jounce.bake(target=target)
    assert snapshot.differences(before, state(obj)), "the bake left no trace to restore"
    bpy.ops.jounce.remove()
    assert snapshot.differences(before, state(obj)) == []
    # Until then undo may want the file of a freed bake back.
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("setup", "end"), crossed(SETUPS, ["preview", "remove"]))
def test_a_preview_leaves_nothing(setup, end):
    obj, rig = scenes.character()
    setup(obj)
    before = state(obj)
    scenes.add_and_build(obj)
    if not obj.jounce.preview:
        bpy.ops.jounce.preview()
    scenes.evaluated_frames(obj, range(1, 9))
    bpy.ops.jounce.fill_cache()
    assert snapshot.differences(before, state(obj)), "the preview left no trace to restore"
    getattr(bpy.ops.jounce, end)()
    after = state(obj)
    if end == "preview":
        before["Column"]["custom"] = after["Column"]["custom"]
    assert snapshot.differences(before, after) == []


@pytest.mark.parametrize(("setup", "target"), crossed(SETUPS, TARGETS))
def test_free_bake_restores_all_but_the_settings(setup, target, tmp_path):
    obj, rig = scenes.character()
    setup(obj)
    scenes.add_and_build(obj)
    obj.jounce.cache_folder = str(tmp_path)
    before = state(obj)
    bpy.ops.jounce.bake(target=target)
    bpy.ops.jounce.bake(target=target)
    bpy.ops.jounce.free_bake()
    assert snapshot.differences(before, state(obj)) == []
    assert obj.jounce.bake_error == 0.0
    bpy.ops.jounce.free_bake()
    assert snapshot.differences(before, state(obj)) == []


def test_remove_reaches_all_meshes_of_the_body():
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    coat.parent = rig
    scenes.skin(coat, rig, 2.0)
    scenes.settle_scene()
    before = state(obj, coat)
    scenes.add_and_build(obj, coat)
    bpy.ops.jounce.bake()
    scenes.activate(coat)
    bpy.ops.jounce.remove()
    assert snapshot.differences(before, state(obj, coat)) == []


def test_keys_added_after_the_bake_stay():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake()
    obj.shape_key_add(name="Late")
    bpy.ops.jounce.remove()
    assert [block.name for block in obj.data.shape_keys.key_blocks] == ["Basis", "Late"]


def test_a_copy_keeps_its_bake_when_the_original_is_removed():
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    bpy.ops.jounce.bake()
    copy = obj.copy()
    copy.data = obj.data.copy()
    bpy.context.scene.collection.objects.link(copy)
    scenes.activate(obj)
    bpy.ops.jounce.remove()
    assert obj.data.shape_keys is None
    assert copy.data.shape_keys.animation_data.action is not None
    scenes.activate(copy)
    bpy.ops.jounce.remove()
    assert copy.data.shape_keys is None
    assert not [action for action in bpy.data.actions if "Jounce" in action.name]


def test_disabling_the_extension_leaves_nothing_behind(package):
    assert handlers_of_jounce()
    package.unregister()
    try:
        assert not hasattr(bpy.types.Object, "jounce")
        assert not hasattr(bpy.types, "JOUNCE_OT_bake")
        assert not handlers_of_jounce()
    finally:
        package.register()


def handlers_of_jounce():
    """Handlers of the extension."""
    kinds = [getattr(bpy.app.handlers, kind) for kind in dir(bpy.app.handlers)]
    lists = [handlers for handlers in kinds if isinstance(handlers, list)]
    return [handler for handlers in lists for handler in handlers if "jounce" in handler.__module__]
