"""Export for Games: the file plays as the preview shows its draft, and is refused where it could not."""

import shutil
import subprocess
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from test_refusals import assert_refused

FRAMES = 300
# From the axes of glTF to those of Blender.
BACK = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


@pytest.fixture
def gltf(package):
    """The reader of GLB files, in the module that comes with the extension."""
    from jounce import gltf

    return gltf


def dance(rig, frames):
    """Keys both bones over a whole shot, and the armature itself."""
    for frame in range(1, frames + 1, 5):
        for name, rate in (("Lower", 0.21), ("Upper", 0.37)):
            bone = rig.pose.bones[name]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = (0.5 * np.sin(rate * frame), 0.3 * np.cos(1.3 * rate * frame), 0.0)
            bone.keyframe_insert("rotation_euler", frame=frame)
        rig.location.z = 0.2 * np.sin(0.3 * frame)
        rig.keyframe_insert("location", frame=frame)


def worn(rig, name, height):
    """A short column on the upper bone."""
    hat = scenes.column(name, height=0.4, radius=0.2)
    hat.location.z = height
    bpy.context.view_layer.update()
    matrix = hat.matrix_world.copy()
    hat.parent, hat.parent_type, hat.parent_bone = rig, "BONE", "Upper"
    bpy.context.view_layer.update()
    hat.matrix_world = matrix
    return hat


def dancer(scale=1.0, frames=FRAMES):
    """A built body of two meshes that dances: one skinned, one on a bone."""
    obj, rig = scenes.character(scale)
    hat = worn(rig, "Hat", 1.8)
    dance(rig, frames)
    scenes.settle_scene(frames)
    scenes.add_and_build(obj, hat)
    scenes.activate(obj)
    return obj, hat, rig


def played(gltf, path, seconds):
    """Displacements (f, p, 3) of a file in all frames, in Blender's axes, and rest places (p, 3)."""
    character = gltf.read(path)
    (body,) = character.bodies
    places = np.concatenate(character.rest_points(body))
    player = body.player(places)
    start, _ = character.span()
    moved = []
    for frame in range(FRAMES):
        player.step(body.pose(character.worlds(start + frame * seconds)), seconds)
        moved.append(player.displacements() @ BACK.T)
    return np.array(moved), places


def previewed(objects):
    """Displacements (f, p, 3) of the draft as it is shown."""
    posed = shapes(objects)
    bpy.ops.jounce.preview()
    bpy.ops.jounce.fill_cache()
    return shapes(objects) - posed


def shapes(objects):
    """World places (f, p, 3) of all vertices."""
    return np.concatenate([scenes.evaluated_frames(obj, range(1, FRAMES + 1)) for obj in objects], axis=1)


def rests(objects):
    """Rest places (p, 3) of the vertices in the world."""
    found = []
    for obj in objects:
        matrix = np.array(obj.jounce.bind_matrix).reshape(4, 4)
        local = np.array([vertex.co for vertex in obj.data.vertices])
        found.append(local @ matrix[:3, :3].T + matrix[:3, 3])
    return np.concatenate(found)


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_a_player_shows_what_the_preview_of_the_draft_does(tmp_path, gltf, scale):
    obj, hat, _ = dancer(scale)
    obj.jounce.gravity = 0.4
    path = tmp_path / "hero.glb"
    assert bpy.ops.jounce.export_games(filepath=str(path)) == {"FINISHED"}
    assert [entry.name for entry in tmp_path.iterdir()] == ["hero.glb"]
    theirs, places = played(gltf, path, 1.0 / 24.0)
    own = previewed((obj, hat))
    own_rest = rests((obj, hat))
    nearest = [int(np.argmin(np.linalg.norm(own_rest - place, axis=1))) for place in places]
    size = np.linalg.norm(np.ptp(own_rest, axis=0))
    assert np.abs(own_rest[nearest] - places).max() < 1e-6 * size
    assert np.abs(own).max() > 0.01 * size
    apart = np.abs(own[:, nearest] - theirs).max() / size
    print(f"{apart:.1e} of the size apart, moves {np.abs(own).max() / size:.1%}")
    assert apart < 1e-5
    in_node = played_in_node(path, tmp_path / "displacements", 1.0 / 24.0)
    assert in_node is None or np.abs(in_node - theirs).max() < 1e-5 * size


def played_in_node(path, target, seconds):
    """Displacements (f, p, 3) in WebAssembly, in Blender's axes; None where it is not compiled."""
    root = Path(__file__).resolve().parents[2]
    module = root / "out/wasm/jounce_player.wasm"
    if not module.exists() or shutil.which("node") is None:
        print("there is no Node, or no compiled player; `cargo x wasm` makes it")
        return None
    script = root / "rust/player/js/play.mjs"
    subprocess.run(["node", script, module, path, str(FRAMES), str(seconds), target], check=True)
    return np.fromfile(target, "<f4").reshape(FRAMES, -1, 3) @ BACK.T


def test_the_file_is_the_character_and_the_scene_stays(tmp_path, gltf):
    obj, hat, rig = dancer(frames=12)
    bpy.context.scene.frame_set(5)
    before = snapshot.file_state()
    path = tmp_path / "hero.glb"
    bpy.ops.jounce.export_games(filepath=str(path))
    assert snapshot.file_state() == before and bpy.context.scene.frame_current == 5
    (body,) = gltf.read(path).bodies
    state = obj.jounce
    assert body.settings["damping"] == pytest.approx(state.damping)
    assert body.settings["substep"] == pytest.approx(1.0 / 24.0 / state.substeps)
    posed = {each.name: scenes.evaluated_frames(each, range(1, 13)) for each in (obj, hat)}
    bpy.ops.import_scene.gltf(filepath=str(path))
    for name, shape in posed.items():
        again = scenes.evaluated_frames(bpy.data.objects[f"{name}.001"], range(1, 13))
        for one, other in zip(shape, again, strict=True):
            far = np.linalg.norm(one[:, None] - other[None], axis=2).min(axis=1).max()
            assert far < 1e-5


def test_a_character_without_a_clip_plays_too(tmp_path, gltf):
    obj, rig = scenes.character()
    rig.animation_data_clear()
    # The pose of the scene is not that of the file, which is at rest.
    rig.pose.bones["Upper"].rotation_euler = (0.3, 0.0, 0.0)
    scenes.add_and_build(obj)
    path = tmp_path / "hero.glb"
    assert bpy.ops.jounce.export_games(filepath=str(path)) == {"FINISHED"}
    character = gltf.read(path)
    (body,) = character.bodies
    player = body.player(character.rest_points(body)[0])
    worlds = character.worlds()
    player.step(body.pose(worlds), 0.02)
    assert np.abs(body.pose(worlds) - body.pose(worlds)[0]).max() < 1e-6
    worlds[:, 0, 3] += 0.1
    player.step(body.pose(worlds), 0.02)
    player.step(body.pose(worlds), 0.02)
    assert np.abs(player.displacements()).max() > 1e-3


def test_what_a_file_cannot_hold_is_told_or_refused(tmp_path, capfd):
    obj, rig = scenes.character()
    scenes.activate(obj)
    bpy.ops.jounce.add()
    scenes.coarse(obj)
    path = tmp_path / "hero.glb"
    assert_refused(bpy.ops.jounce.export_games, "Column", "Build", filepath=str(path))
    bpy.ops.jounce.build()
    assert_refused(bpy.ops.jounce.export_games, "No file was given")
    obj.jounce.keyframe_insert("damping", frame=1)
    obj.jounce.damping = 0.5
    obj.jounce.keyframe_insert("damping", frame=12)
    obj.jounce.quality = "FINAL"
    capfd.readouterr()
    assert bpy.ops.jounce.export_games(filepath=str(path)) == {"FINISHED"}
    assert "Column plays as its draft, without animated settings." in capfd.readouterr().out
    path.unlink()
    obj.data.vertices[0].co.x += 0.5
    assert_refused(bpy.ops.jounce.export_games, "changed since it was built", filepath=str(path))
    obj.data.vertices[0].co.x -= 0.5
    bpy.context.scene.unit_settings.scale_length = 0.01
    assert_refused(bpy.ops.jounce.export_games, "Unit Scale", filepath=str(path))
    bpy.context.scene.unit_settings.scale_length = 1.0
    rig.hide_set(True)
    assert_refused(bpy.ops.jounce.export_games, "hidden", filepath=str(path))
    rig.hide_set(False)
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    assert_refused(bpy.ops.jounce.export_games, "shows its bake", filepath=str(path))
    assert list(tmp_path.iterdir()) == []


def test_bones_that_the_file_moves_otherwise_are_refused(tmp_path, module, monkeypatch):
    obj, _, rig = dancer(frames=12)
    games = module("bridge.bake.game_files")
    read = games.gltf.Character.worlds

    def bent(character, seconds=0.0, clip=0):
        worlds = read(character, seconds, clip)
        if clip is not None and seconds > 0.3:
            worlds[:, 0, 1] += 0.2
        return worlds

    monkeypatch.setattr(games.gltf.Character, "worlds", bent)
    path = tmp_path / "hero.glb"
    assert_refused(bpy.ops.jounce.export_games, "elsewhere in frame", "Column", filepath=str(path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("start", [-5, 0, 20])
def test_clips_start_where_they_do(tmp_path, gltf, start):
    obj, _, rig = dancer(frames=40)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = start, start + 30
    path = tmp_path / "hero.glb"
    assert bpy.ops.jounce.export_games(filepath=str(path)) == {"FINISHED"}
    first, last = gltf.read(path).span()
    assert last - first > 0.5


def test_several_meshes_on_one_bone_play_too(tmp_path, gltf):
    obj, hat, rig = dancer(frames=12)
    band = worn(rig, "Band", 1.5)
    scenes.add_and_build(obj, hat, band)
    scenes.activate(obj)
    path = tmp_path / "hero.glb"
    assert bpy.ops.jounce.export_games(filepath=str(path)) == {"FINISHED"}
    (body,) = gltf.read(path).bodies
    assert len(body.nodes) == 3
    places = np.concatenate(gltf.read(path).rest_points(body))
    own = rests((obj, hat, band))
    far = np.linalg.norm(own[:, None] - places[None], axis=2)
    assert far.min(axis=1).max() < 1e-6 and far.min(axis=0).max() < 1e-6


def test_two_bodies_of_one_armature_are_two_bodies_of_the_file(tmp_path, gltf):
    obj, hat, rig = dancer(frames=12)
    other = scenes.column("Other")
    other.location.x = 3.0
    scenes.skin(other, rig, 2.0)
    other.parent = rig
    scenes.add_and_build(other)
    scenes.activate(obj, other)
    path = tmp_path / "hero.glb"
    assert bpy.ops.jounce.export_games(filepath=str(path)) == {"FINISHED"}
    character = gltf.read(path)
    assert [len(body.nodes) for body in character.bodies] == [2, 1]
    far = np.concatenate(character.rest_points(character.bodies[1]))
    assert far[:, 0].min() > 2.5
    assert len(character.bodies[1].player(far).displacements()) == len(far)
