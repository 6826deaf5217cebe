"""Shape keys and their animation beside those of bakes: all data of the artist's survives."""

import bpy
import numpy as np
import pytest
import scenes
import snapshot

FRAMES = range(1, 13)
KEYS = ("MODAL_KEYS", "FRAME_KEYS")


def free(_obj):
    bpy.ops.jounce.free_bake()


def remove(_obj):
    bpy.ops.jounce.remove()


def bake_again(_obj):
    bpy.ops.jounce.bake(target="FRAME_KEYS")


def bake_to_nodes(_obj):
    bpy.ops.jounce.bake(target="SKINNING_NODES")


def bake_twice_and_free(_obj):
    for _ in range(2):
        bpy.ops.jounce.bake(target="FRAME_KEYS")
    bpy.ops.jounce.free_bake()


ENDS = (free, remove, bake_again, bake_to_nodes, bake_twice_and_free)


@pytest.fixture
def column():
    """A built character without shape keys."""
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    return obj


def blocks_of(obj):
    return obj.data.shape_keys.key_blocks


def data_of(obj):
    return obj.data.shape_keys.animation_data


def keyed(obj, name="Smile"):
    """An artist's key that moves a vertex, keyed to 0 in frame 1 and to 1 in frame 11."""
    block = obj.shape_key_add(name=name, from_mix=False)
    block.points[5].co.x += 0.4
    for frame, value in ((1, 0.0), (11, 1.0)):
        block.value = value
        block.keyframe_insert("value", frame=frame)
    return block


def values(obj, name):
    """The values of a key over the frames."""
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        found.append(blocks_of(obj)[name].value)
    return found


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("target", KEYS)
def test_keys_that_were_inserted_after_a_bake_play_on(column, target, end):
    bpy.ops.jounce.bake(target=target)
    keyed(column)
    expected = values(column, "Smile")
    assert expected[0] == 0.0 and expected[10] == 1.0
    end(column)
    assert values(column, "Smile") == expected
    curves = snapshot.fcurves(data_of(column).action)
    assert [curve.data_path for curve in curves] == ['key_blocks["Smile"].value']


@pytest.mark.parametrize("end", ENDS)
def test_a_key_that_is_called_as_a_bakes_stays_the_artists(column, end):
    for name in ("Basis", "jounce: frame 3", "jounce: mine"):
        column.shape_key_add(name=name).points[2].co.y += 0.2
    shapes = [np.array([point.co for point in block.points]) for block in blocks_of(column)]
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert len(blocks_of(column)) == 3 + 12
    end(column)
    kept = [blocks_of(column)[name] for name in ("Basis", "jounce: frame 3", "jounce: mine")]
    for block, shape in zip(kept, shapes, strict=True):
        assert np.array_equal(np.array([point.co for point in block.points]), shape)
    assert len(blocks_of(column)) == (3 if end is not bake_again else 3 + 12)


def test_a_key_that_is_called_as_a_bakes_moves_the_mesh_as_any_other(column, module):
    posing, deformers = module("bridge.rig.rig_stack"), module("bridge.rig.armature_modifier")
    assert not posing.has_keys(column)
    for name in ("Basis", "jounce: mine"):
        column.shape_key_add(name=name)
    blocks_of(column)["jounce: mine"].value = 1.0
    assert posing.has_keys(column)
    assert not posing.is_linear(column, deformers.deformer(column, print))
    blocks_of(column)["jounce: mine"].points[3].co.x += 0.5
    blocks_of(column)["jounce: mine"].keyframe_insert("value", frame=1)
    assert [key.name for key in module("bridge.rig.driven_keys").animated(column)] == ["jounce: mine"]
    with module("bridge.rig.modifier_stack").shown_as_posed([column]):
        assert not blocks_of(column)["jounce: mine"].mute


@pytest.mark.parametrize("end", ENDS)
def test_renamed_keys_of_a_bake_go_with_it(column, end):
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    blocks_of(column)["jounce: frame 4"].name = "Belly"
    blocks_of(column)["jounce: frame 5"].name = "jounce: frame 4"
    end(column)
    if end is bake_again:
        assert blocks_of(column).keys() == ["Basis", *(f"jounce: frame {frame}" for frame in FRAMES)]
    else:
        assert column.data.shape_keys is None


def test_edited_keys_of_a_bake_go_with_it(column):
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    blocks_of(column)["jounce: frame 4"].points[0].co.x += 1.0
    bpy.ops.jounce.free_bake()
    assert column.data.shape_keys is None and not bpy.data.actions.get("Jounce Column")


def test_a_key_of_a_bake_that_was_deleted_leaves_no_curve(column):
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    keyed(column)
    column.shape_key_remove(blocks_of(column)["jounce: frame 4"])
    bpy.ops.jounce.free_bake()
    curves = snapshot.fcurves(data_of(column).action)
    assert [curve.data_path for curve in curves] == ['key_blocks["Smile"].value']


def with_track(obj, name):
    """An artist's key, moved by a strip in a track of this name."""
    obj.shape_key_add(name="Basis")
    keyed(obj)
    data = data_of(obj)
    action, data.action = data.action, None
    track = data.nla_tracks.new()
    track.name = name
    strip = track.strips.new(name, 1, action)
    strip.name = name
    return action


@pytest.mark.parametrize("end", ENDS)
def test_a_track_and_a_strip_that_are_called_as_a_bakes_stay(column, end):
    action = with_track(column, "Jounce")
    expected = values(column, "Smile")
    before = snapshot.animation_state(data_of(column))
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    assert len(data_of(column).nla_tracks) == 2
    end(column)
    after = snapshot.animation_state(data_of(column))
    if end is bake_again:
        after["tracks"] = after["tracks"][:1]
    assert snapshot.differences(before["tracks"], after["tracks"]) == []
    assert data_of(column).nla_tracks[0].strips[0].action == action
    assert values(column, "Smile") == expected


@pytest.mark.parametrize("end", ENDS)
def test_a_strip_of_the_artists_in_a_bakes_track_stays(column, end):
    action = with_track(column, "Theirs")
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    tracks = data_of(column).nla_tracks
    # Blender 4.4 uses the name of the action.
    tracks["Jounce"].strips.new("More", 40, action).name = "More"
    end(column)
    strips = [strip.name for track in data_of(column).nla_tracks for strip in track.strips]
    assert strips[:2] == ["Theirs", "More"]


@pytest.mark.parametrize("target", KEYS)
def test_after_another_bake_the_action_is_the_active_one_again(column, target):
    before = snapshot.snapshot(column)
    for _ in range(3):
        bpy.ops.jounce.bake(target=target)
    data = data_of(column)
    assert data.action == column.jounce.bake_action and not data.nla_tracks
    assert [action.name for action in bpy.data.actions if "Jounce" in action.name] == ["Jounce Column"]
    bpy.ops.jounce.free_bake()
    before["custom"] = (after := snapshot.snapshot(column))["custom"]
    assert snapshot.differences(before, after) == []


@pytest.mark.parametrize("first", ["the original", "the copy"])
def test_a_copy_with_the_same_action_plays_what_the_artist_keyed_in_it(column, first):
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    keyed(column)
    expected = values(column, "Smile")
    copy = column.copy()
    copy.data = column.data.copy()
    bpy.context.scene.collection.objects.link(copy)
    shown = scenes.evaluated_frames(copy, FRAMES)
    one, other = (column, copy) if first == "the original" else (copy, column)
    scenes.activate(one)
    bpy.ops.jounce.free_bake()
    assert blocks_of(one).keys() == ["Basis", "Smile"] and values(one, "Smile") == expected
    assert np.array_equal(scenes.evaluated_frames(other, FRAMES), shown)
    scenes.activate(other)
    bpy.ops.jounce.free_bake()
    assert blocks_of(other).keys() == ["Basis", "Smile"] and values(other, "Smile") == expected


def test_a_rig_that_is_read_from_doubles_leaves_the_artists_keys_in_the_action(column):
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    keyed(column)
    expected = values(column, "Smile")
    actions = len(bpy.data.actions)
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    assert values(column, "Smile") == expected and len(bpy.data.actions) <= actions + 1
    assert len(bpy.data.shape_keys) == 1
