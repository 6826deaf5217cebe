"""Neighbours of a bake among modifiers, node groups and copies for games, and the traces of a
failing bake.
"""

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from matrices import crossed

FRAMES = range(1, 13)
TARGETS = ("FRAME_KEYS", "MODAL_KEYS", "SKINNING_NODES", "MESH_CACHE", "HELPER_BONES", "OWN_BONES")


@pytest.fixture
def column(tmp_path):
    """A built character with its caches in a folder of the test."""
    obj, _ = scenes.character()
    scenes.add_and_build(obj)
    obj.jounce.cache_folder = str(tmp_path)
    return obj


def state(obj):
    """The object, and everything in the file."""
    return {"file": snapshot.file_state(), "object": snapshot.snapshot(obj)}


def with_modifiers(obj, folder):
    """An artist's modifiers with Jounce's names: nodes, and a cache with its file."""
    (folder / "theirs").mkdir()
    path = folder / "theirs" / "Jounce Column.pc2"
    path.write_bytes(b"POINTCACHE2\0" + bytes(20))
    cache = obj.modifiers.new("Jounce", "MESH_CACHE")
    cache.cache_format, cache.filepath = "PC2", str(path)
    tree = bpy.data.node_groups.new("Jounce Preview", "GeometryNodeTree")
    for direction in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
    tree.links.new(tree.nodes.new("NodeGroupInput").outputs[0], tree.nodes.new("NodeGroupOutput").inputs[0])
    nodes = obj.modifiers.new("Jounce nodes", "NODES")
    nodes.node_group = tree
    cache.show_viewport = cache.show_render = False
    return [cache.name, nodes.name], path


@pytest.mark.parametrize(("target", "end"), crossed(TARGETS, ["free_bake", "remove"]))
def test_modifiers_that_are_called_as_ours_stay(column, tmp_path, target, end):
    names, path = with_modifiers(column, tmp_path)
    before, kept = snapshot.snapshot(column)["modifiers"], path.read_bytes()
    tree = column.modifiers[names[1]].node_group
    bpy.ops.jounce.preview()
    assert len(column.modifiers) == 4
    for _ in range(2):
        bpy.ops.jounce.bake(target=target)
    getattr(bpy.ops.jounce, end)()
    assert snapshot.differences(before, snapshot.snapshot(column)["modifiers"]) == []
    assert path.read_bytes() == kept and list(bpy.data.node_groups) == [tree]


@pytest.mark.parametrize("target", ["SKINNING_NODES", "MESH_CACHE"])
def test_a_renamed_modifier_of_a_bake_goes_with_it(column, target):
    before = state(column)["object"]["modifiers"]
    bpy.ops.jounce.bake(target=target)
    column.modifiers["Jounce"].name = "Flesh"
    bpy.ops.jounce.bake(target=target)
    assert [modifier.name for modifier in column.modifiers] == ["Armature", "Jounce"]
    column.modifiers["Jounce"].name = "Flesh"
    bpy.ops.jounce.free_bake()
    assert snapshot.differences(before, state(column)["object"]["modifiers"]) == []


@pytest.mark.parametrize("target", ["SKINNING_NODES", "MESH_CACHE"])
def test_a_duplicate_frees_its_own_bake(column, target):
    bpy.ops.jounce.bake(target=target)
    bpy.ops.object.duplicate()
    copy = bpy.context.object
    copy.modifiers["Jounce"].name = "Flesh"
    bpy.ops.jounce.free_bake()
    assert [modifier.name for modifier in copy.modifiers] == ["Armature"]
    assert [modifier.name for modifier in column.modifiers] == ["Armature", "Jounce"]


def test_attributes_that_are_called_as_a_bakes_stay(column):
    names = ("jounce: point", "jounce: weight 2")
    for name in names:
        column.data.attributes.new(name, "FLOAT", "POINT").data[3].value = 0.7
    before = state(column)["object"]["mesh"]["attributes"]
    for _ in range(2):
        bpy.ops.jounce.bake(target="SKINNING_NODES")
    bpy.ops.jounce.free_bake()
    assert state(column)["object"]["mesh"]["attributes"] == before


def test_an_attribute_that_is_called_as_a_previews_stays(column):
    """The artist's own modifiers also see the attribute, while the mesh moves like one without it."""
    bpy.ops.jounce.preview()
    expected = scenes.evaluated_frames(column, FRAMES)
    bpy.ops.jounce.preview()
    column.data.attributes.new("jounce", "FLOAT", "POINT").data[3].value = 0.7
    before = state(column)
    bpy.ops.jounce.preview()
    assert np.array_equal(scenes.evaluated_frames(column, FRAMES), expected)
    bpy.ops.jounce.preview()
    assert snapshot.differences(before, state(column)) == []
    bpy.ops.jounce.bake(target="SKINNING_NODES")
    bpy.ops.jounce.remove()
    assert column.data.attributes["jounce"].data[3].value == pytest.approx(0.7)


def test_an_armature_of_the_artists_above_the_copy_stays(column):
    bpy.ops.jounce.bake(target="HELPER_BONES")
    copy = column.jounce.bake_copy
    rig = scenes.armature([("Root", 0.0, 1.0)], "Theirs")
    copy.parent = rig
    own = bpy.data.collections.new("Jounce Export mine")
    own.objects.link(copy)
    scenes.activate(column)
    bpy.ops.jounce.free_bake()
    assert "Theirs" in bpy.data.objects and "Jounce Export mine" in bpy.data.collections
    assert column.jounce.bake_copy is None and len(bpy.data.meshes) == 1


# A bake that cannot be written.


class Full(Exception):
    """Error of a full disk, or of a bug."""


@pytest.mark.parametrize(("first", "second"), crossed(TARGETS, [*TARGETS[1:], TARGETS[0]]))
def test_a_bake_that_fails_leaves_the_earlier_one(column, first, second, module, monkeypatch, tmp_path):
    coat = scenes.column("Coat", radius=0.35)
    coat.parent = column.parent
    scenes.skin(coat, column.parent, 2.0)
    coat.jounce.host = column
    scenes.settle_scene()
    bpy.ops.jounce.build()
    bpy.ops.jounce.bake(target=first)
    before, files = [state(obj) for obj in (column, coat)], contents(tmp_path)
    shown = [scenes.evaluated_frames(obj, FRAMES) for obj in (column, coat)]
    fail_at_the_second(module, monkeypatch, second)
    with pytest.raises(RuntimeError, match="no space"):
        bpy.ops.jounce.bake(target=second)
    after = [state(obj) for obj in (column, coat)]
    assert snapshot.differences(before, after) == [] and contents(tmp_path) == files
    for obj, shapes in zip((column, coat), shown, strict=True):
        assert np.array_equal(scenes.evaluated_frames(obj, FRAMES), shapes)
    monkeypatch.undo()
    bpy.ops.jounce.free_bake()
    assert column.data.shape_keys is None and len(bpy.data.objects) == 3 and not bpy.data.node_groups


def contents(folder):
    """The files of a folder with their contents."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def fail_at_the_second(module, monkeypatch, target):
    """Makes the second mesh of a bake fail in its last write."""
    places = {
        "FRAME_KEYS": ("bridge.keys.animation", "write"),
        "MODAL_KEYS": ("bridge.keys.animation", "write"),
        "SKINNING_NODES": ("bridge.rig.modifier_stack", "insert_bake"),
        "MESH_CACHE": ("bridge.bake.mesh_cache", "relative"),
        "HELPER_BONES": ("bridge.bake.helper_bones", "skin"),
        "OWN_BONES": ("bridge.bake.helper_bones", "skin"),
    }
    owner, name = places[target]
    whole, calls = getattr(module(owner), name), []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) == 2:
            raise Full("no space")
        return whole(*arguments)

    monkeypatch.setattr(module(owner), name, failing)
