"""One-click export: the same shapes return, and the scene stays unchanged."""

import bpy
import exports
import numpy as np
import pytest
import scenes
import snapshot
from test_refusals import assert_refused

FRAMES = range(1, 13)
READ = {
    "GLTF": lambda path: bpy.ops.import_scene.gltf(filepath=path),
    "USD": lambda path: bpy.ops.wm.usd_import(filepath=path),
    "ALEMBIC": lambda path: bpy.ops.wm.alembic_import(filepath=path, as_background_job=False),
}
SUFFIXES = {"GLTF": ".glb", "USD": ".usdc", "ALEMBIC": ".abc"}


def shapes(meshes):
    """World positions of all meshes on all frames."""
    return np.concatenate([scenes.evaluated_frames(mesh, FRAMES) for mesh in meshes], axis=1)


@pytest.fixture
def character(tmp_path):
    """A built character of two meshes, in a saved file."""
    obj, rig = scenes.character()
    coat = scenes.column("Coat", radius=0.35)
    coat.parent = rig
    scenes.skin(coat, rig, 2.0)
    scenes.settle_scene()
    obj.jounce.frequency = 2.0
    for mesh in (obj, coat):
        mesh.data.shade_smooth()
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "shot.blend"))
    scenes.add_and_build(obj, coat)
    return obj, coat, rig


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("GLTF", "MODAL_KEYS"),
        ("GLTF", "HELPER_BONES"),
        ("USD", "MODAL_KEYS"),
        ("USD", "MESH_CACHE"),
        ("USD", "SKINNING_NODES"),
        ("ALEMBIC", "MESH_CACHE"),
        ("ALEMBIC", "HELPER_BONES"),
        ("ALEMBIC", "FRAME_KEYS"),
    ],
)
def test_the_shapes_of_a_bake_come_back(character, tmp_path, kind, target):
    obj, coat, rig = character
    posed = shapes((obj, coat))
    bpy.ops.jounce.bake(target=target)
    meshes, _ = exports.going_out(target, [obj, coat], rig)
    expected = shapes(meshes)
    assert np.abs(expected - posed).max() > 0.02, "the bake does not move enough to tell"
    # Frames other than those of the bake, and another selection.
    bpy.context.scene.frame_end = 200
    bpy.context.scene.frame_set(7)
    path = tmp_path / f"out{SUFFIXES[kind]}"
    assert bpy.ops.jounce.export(file_format=kind, filepath=str(path)) == {"FINISHED"}
    assert [entry.name for entry in tmp_path.glob("*.part*")] == []
    way = exports.Way(target, path.suffix, lambda _: None, READ[kind])
    found = exports.there_and_back(way, str(path), shapes)
    assert exports.distance(found, expected) < 5e-6


def test_the_scene_is_left_as_it_was(character, tmp_path):
    obj, coat, rig = character
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    scenes.activate(coat)
    bpy.context.scene.frame_set(5)
    before = snapshot.file_state()
    for kind, suffix in SUFFIXES.items():
        bpy.ops.jounce.export(file_format=kind, filepath=str(tmp_path / f"out{suffix}"))
    assert snapshot.file_state() == before
    scene = bpy.context.scene
    assert (scene.frame_start, scene.frame_end, scene.frame_current) == (1, 12, 5)
    assert bpy.context.view_layer.objects.active == coat and bpy.context.selected_objects == [coat]


def test_what_a_file_cannot_hold_is_refused(character, tmp_path):
    obj, _, _ = character
    path = str(tmp_path / "out.glb")
    assert_refused(bpy.ops.jounce.export, "No selected body has a bake", filepath=path)
    bpy.ops.jounce.bake(target="MESH_CACHE")
    assert_refused(bpy.ops.jounce.export, "Column", "modal shape keys", filepath=path)
    assert_refused(bpy.ops.jounce.export, "No file was given", file_format="USD")
    (tmp_path / "file").write_text("no folder")
    nowhere = str(tmp_path / "file" / "out.abc")
    assert_refused(bpy.ops.jounce.export, "cannot be written", file_format="ALEMBIC", filepath=nowhere)
    obj.hide_viewport = True
    assert_refused(bpy.ops.jounce.export, "hidden", file_format="USD", filepath=path)
    assert [entry.name for entry in tmp_path.glob("out*")] == []


def test_an_earlier_file_stays_where_the_new_one_cannot_be_written(character, tmp_path, module, monkeypatch):
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    path = tmp_path / "out.glb"
    path.write_bytes(b"earlier")

    def fails(part, asked):
        part.write_bytes(b"half")
        raise RuntimeError("Error: disk full")

    kind = module("bridge.bake.exports").FORMATS["GLTF"]
    monkeypatch.setitem(
        module("bridge.bake.exports").FORMATS, "GLTF", type(kind)("glTF", ".glb", kind.takes, fails)
    )
    assert_refused(bpy.ops.jounce.export, "disk full", filepath=str(path))
    assert path.read_bytes() == b"earlier" and [entry.name for entry in tmp_path.glob("*.part*")] == []


def test_a_button_bakes_every_body_of_the_scene(character):
    obj, coat, rig = character
    other = scenes.column("Other")
    other.location.x = 3.0
    scenes.skin(other, rig, 2.0)
    scenes.add_and_build(other)
    bpy.ops.jounce.bake(target="FRAME_KEYS")
    other.jounce.bake_range = (0, 0)
    scenes.activate(obj)
    assert bpy.ops.jounce.bake(target="FRAME_KEYS", whole_scene=True) == {"FINISHED"}
    assert obj.jounce.bake_keys == coat.jounce.bake_keys == other.jounce.bake_keys == 12
    assert tuple(other.jounce.bake_range) == (1, 12)
