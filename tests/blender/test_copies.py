"""Copies of previewed characters, and the rest of deleted ones: they move by themselves, or as posed."""

import bpy
import numpy as np
import pytest
import scenes
from matrices import crossed
from previews import FRAMES, previewed
from test_held import offsets


def dressed():
    """A previewed body of two meshes."""
    obj, coat, rig = scenes.dressed()
    bpy.ops.jounce.preview()
    return obj, coat, rig


def shown(obj):
    return scenes.evaluated_frames(obj, FRAMES)


def posed(obj):
    """The shapes without any display by Jounce."""
    hidden = [modifier for modifier in obj.modifiers if modifier.type == "NODES" and modifier.show_viewport]
    for modifier in hidden:
        modifier.show_viewport = False
    shapes = shown(obj)
    for modifier in hidden:
        modifier.show_viewport = True
    return shapes


def duplicate(*objects, linked=False):
    scenes.activate(*objects)
    bpy.ops.object.duplicate(linked=linked)
    bpy.context.view_layer.update()
    return [bpy.data.objects[f"{obj.name}.001"] for obj in objects]


def test_a_copy_of_a_whole_body_is_one_of_its_own(preview):
    obj, coat, _ = dressed()
    expected = [shown(each) for each in (obj, coat)]
    bpy.context.scene.frame_set(8)
    other, other_coat = duplicate(obj, coat)
    assert not offsets(other).any() and not offsets(other_coat).any()
    assert other.jounce.is_host and other_coat.jounce.host == other
    assert preview.session(other) not in (None, preview.session(obj))
    for each, right in zip((other, other_coat, obj, coat), 2 * expected, strict=True):
        assert np.array_equal(shown(each), right)


def test_a_copy_of_one_mesh_moves_by_itself_and_changes_nothing_of_the_original(preview, module):
    obj, coat, _ = dressed()
    obj.jounce.frequency = 2.5
    expected = [shown(each) for each in (obj, coat)]
    bpy.context.scene.frame_set(8)
    (other,) = duplicate(coat)
    assert not offsets(other).any()
    assert other.jounce.is_host and other.jounce.host is None and other.jounce.frequency == 2.5
    assert module("bridge.body.bodies").members(obj) == (obj, coat)
    assert np.abs(shown(other) - posed(other)).max() > 1e-3
    assert preview.session(other).status() == "Draft"
    for each, right in zip((obj, coat), expected, strict=True):
        assert np.array_equal(shown(each), right)
    scenes.activate(other)
    bpy.ops.jounce.remove()
    assert np.array_equal(shown(coat), expected[1])


def test_a_copy_that_shares_its_mesh_shows_the_pose_and_the_original_goes_on():
    obj, _ = previewed()
    expected = shown(obj)
    (other,) = duplicate(obj, linked=True)
    assert np.array_equal(shown(other), posed(other))
    assert np.array_equal(shown(obj), expected)
    scenes.activate(other)
    with pytest.raises(RuntimeError, match="shares its mesh"):
        bpy.ops.jounce.preview()


def test_a_copy_of_a_baked_mesh_keeps_its_bake_and_can_be_freed():
    obj, coat, _ = dressed()
    scenes.activate(obj)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    expected = shown(coat)
    (other,) = duplicate(coat)
    assert np.array_equal(shown(other), expected)
    scenes.activate(other)
    bpy.ops.jounce.remove()
    assert other.data.shape_keys is None
    assert np.array_equal(shown(coat), expected)


def delete_host(obj, _coat, _rig):
    bpy.data.objects.remove(obj)


def delete_part(_obj, coat, _rig):
    bpy.data.objects.remove(coat)


def delete_rig(_obj, _coat, rig):
    bpy.data.objects.remove(rig)


def delete_by_hand(obj, _coat, _rig):
    scenes.activate(obj)
    bpy.ops.object.delete()


def unlink_host(obj, _coat, _rig):
    bpy.context.scene.collection.objects.unlink(obj)


def delete_all(obj, coat, rig):
    for each in (obj, coat, rig):
        bpy.data.objects.remove(each)


WAYS = (delete_host, delete_part, delete_rig, delete_by_hand, unlink_host, delete_all)


@pytest.mark.parametrize(("way", "seen"), crossed(WAYS, [True, False]))
def test_what_is_left_shows_what_it_is(preview, module, capfd, way, seen):
    names = [each.name for each in dressed()]
    bpy.context.scene.frame_set(8)
    capfd.readouterr()
    way(*(bpy.data.objects[name] for name in names))
    if seen:
        bpy.context.view_layer.update()
    shapes = {}
    there = bpy.context.scene.objects
    for name in names[:2]:
        obj = there.get(name)
        if obj is not None:
            shapes[name] = shown(obj)
            known = preview.session(module("bridge.body.bodies").host_of(obj))
            if known is None:
                assert not [modifier for modifier in obj.modifiers if modifier.type == "NODES"]
            else:
                assert known.status() == "Draft"
    for name in shapes:
        scenes.activate(there[name])
        if module("bridge.body.bodies").host_of(there[name]) is not None:
            bpy.ops.jounce.remove()
        assert not there[name].is_property_set("jounce")
    said = "".join(capfd.readouterr())
    assert "Traceback" not in said and "Error" not in said
    preview.sync()
    assert not preview._sessions


def test_another_body_goes_on_where_one_is_deleted(preview, capfd):
    first, _ = previewed()
    second, _ = previewed()
    expected = shown(second)
    bpy.data.objects.remove(first)
    assert np.array_equal(shown(second), expected)
    assert preview.session(second).status() == "Draft"
    assert "Traceback" not in "".join(capfd.readouterr())


SETTINGS = {
    "fps": lambda scene: setattr(scene.render, "fps", 60),
    "fps_base": lambda scene: setattr(scene.render, "fps_base", 2.0),
    "scale": lambda scene: setattr(scene.unit_settings, "scale_length", 0.5),
    "start": lambda scene: setattr(scene, "frame_start", 2),
}


@pytest.mark.parametrize("change", SETTINGS.values(), ids=SETTINGS.keys())
def test_a_changed_frame_rate_is_noticed_at_once(preview, module, monkeypatch, change):
    monkeypatch.setattr(module("bridge.preview.session"), "QUIET_SECONDS", 0.0)
    obj, _ = previewed()
    bpy.ops.jounce.fill_cache()
    bpy.context.scene.frame_set(8)
    before = scenes.evaluated(obj)
    known = preview.session(obj)
    change(bpy.context.scene)
    bpy.context.view_layer.update()
    assert known.busy
    while known.busy:
        known.work(bpy.context, 0.01)
    bpy.context.view_layer.update()
    after = scenes.evaluated(obj)
    assert np.abs(after - before).max() > 1e-4
    bpy.context.scene.frame_set(9)
    bpy.context.scene.frame_set(8)
    assert np.array_equal(scenes.evaluated(obj), after)
