"""Export Spring Bones: the pose stays, the springs move as told, and the scene is as before."""

import json
import sys
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
import snapshot
from test_refusals import assert_refused

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "python"))

FRAMES = 60
STEP = 1.0 / 60.0
# From the axes of glTF to those of Blender.
BACK = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


@pytest.fixture
def reference(package):
    """The player of the examples, which needs the module that comes with the extension."""
    import spring_bones

    return spring_bones


def swaying(rig, name, seed):
    """Gives an armature a new action that sways both bones, and the armature itself."""
    rig.animation_data.action = action = bpy.data.actions.new(name)
    random = np.random.default_rng(seed)
    rates = random.uniform(0.08, 0.35, 4)
    for frame in range(1, FRAMES + 1, 2):
        waves = np.sin(rates * frame + seed)
        for bone, wave in (("Lower", waves[0]), ("Upper", waves[1])):
            pose = rig.pose.bones[bone]
            pose.rotation_mode = "XYZ"
            pose.rotation_euler = (0.35 * wave, 0.25 * waves[2], 0.0)
            pose.keyframe_insert("rotation_euler", frame=frame)
        rig.location = (0.2 * waves[3], 0.2 * waves[2], 0.0)
        rig.keyframe_insert("location", frame=frame)
    return action


def swayer():
    """A built soft column of three actions, of which the last one plays."""
    obj, rig = scenes.character()
    rig.animation_data.action.name = "z"
    bpy.data.actions.remove(rig.animation_data.action)
    actions = [swaying(rig, name, seed) for seed, name in enumerate(("One", "Three", "Two"))]
    for action in actions:
        action.use_fake_user = True
    scenes.settle_scene(FRAMES)
    scenes.add_and_build(obj)
    # Ringing for long, springs and flesh would lose step.
    obj.jounce.use_stretch, obj.jounce.damping = False, 0.2
    scenes.activate(obj)
    return obj, rig, actions


def write(path, **options):
    """Exports springs with a wide limit; the text beside the file."""
    options = {"fair": 100.0, "count": 3} | options
    assert bpy.ops.jounce.export_springs(filepath=str(path), **options) == {"FINISHED"}
    return json.loads(path.with_name(f"{path.stem}.springs.json").read_text())


def node_of(character, obj):
    """The node of a mesh in a file."""
    return next(i for i, n in enumerate(character.json["nodes"]) if n.get("name") == obj.name and "mesh" in n)


def rows_of(character, reference, node, obj):
    """Vertices of a mesh for those of its node in a file."""
    rest = np.concatenate(reference.skinned(character, node, character.worlds(clip=None))) @ BACK.T
    matrix = np.array(obj.jounce.bind_matrix).reshape(4, 4)
    own = np.array([vertex.co for vertex in obj.data.vertices]) @ matrix[:3, :3].T + matrix[:3, 3]
    far = np.linalg.norm(rest[:, None] - own[None], axis=2)
    assert far.min(axis=1).max() < 1e-5
    return far.argmin(axis=1)


def test_a_file_moves_as_told_in_an_action_that_the_fit_has_not_seen(tmp_path, reference, module):
    obj, rig, actions = swayer()
    told = write(tmp_path / "hero.glb")
    character = reference.gltf.read(tmp_path / "hero.glb")
    springs = character.json["extensions"]["VRMC_springBone"]
    assert springs["specVersion"] == "1.0" and "VRMC_springBone" in character.json["extensionsUsed"]
    node = node_of(character, obj)
    rows = rows_of(character, reference, node, obj)
    # The last action by name plays, which the fit has not seen.
    assert rig.animation_data.action.name == "Two" == sorted(action.name for action in actions)[-1]
    posed = scenes.evaluated_frames(obj, range(1, FRAMES + 1))
    obj.jounce.pre_roll = 0
    assert bpy.ops.jounce.bake(target="FRAME_KEYS") == {"FINISHED"}
    final = scenes.evaluated_frames(obj, range(1, FRAMES + 1))
    size = np.linalg.norm(np.ptp(posed[0], axis=0))
    player, (start, end) = reference.SpringPlayer(character), character.span()
    shown, still = [], []
    for step in range(round((end - start) / STEP) + 1):
        worlds = character.worlds(start + step * STEP)
        turned = player.step(worlds)
        still.append(np.concatenate(reference.skinned(character, node, worlds)) @ BACK.T)
        shown.append(np.concatenate(reference.skinned(character, node, turned)) @ BACK.T)
    # Every frame of 24 a second that is a step of 60 a second.
    frames = np.arange(0, FRAMES, 2)
    steps = (frames * 2.5).astype(int)
    assert np.abs(np.array(still)[steps] - posed[frames][:, rows]).max() < 1e-5 * size
    moved = np.array(shown)[steps] - np.array(still)[steps]
    flesh = (final - posed)[frames][:, rows]
    touched = np.abs(moved).max(axis=(0, 2)) > 1e-6 * size
    missed = np.sqrt(np.sum((moved - flesh)[:, touched] ** 2) / np.sum(flesh[:, touched] ** 2))
    print(f"told {told['missedOfUnseenMotion']:.1%}, played from the file {missed:.1%}")
    assert missed == pytest.approx(told["missedOfUnseenMotion"], abs=0.03)
    assert missed < 0.7


def test_the_weights_stay_a_partition_and_names_are_told(tmp_path, reference):
    obj, _, _ = swayer()
    obj.jounce.helper_influences = 3
    told = write(tmp_path / "hero.glb")
    character = reference.gltf.read(tmp_path / "hero.glb")
    own = character.json["nodes"][node_of(character, obj)]
    for primitive in character.json["meshes"][own["mesh"]]["primitives"]:
        names = [name for name in primitive["attributes"] if name.startswith("WEIGHTS_")]
        weights = np.hstack([character.array(primitive["attributes"][name]) for name in names])
        assert np.allclose(weights.sum(axis=1), 1.0, atol=1e-6)
        assert (weights > 0.0).sum(axis=1).max() <= 3
    names = {node.get("name") for node in character.json["nodes"]}
    joints = {character.json["nodes"][joint]["name"] for joint in character.json["skins"][0]["joints"]}
    for bone, godot, kawaii in zip(
        told["bones"], told["SpringBoneSimulator3D"], told["KawaiiPhysics"], strict=True
    ):
        assert {bone["spring"], bone["tail"], bone["above"]} <= names & joints
        assert godot["root_bone_name"] == kawaii["RootBone"] == bone["spring"]
        assert godot["end_bone_name"] == bone["tail"] and 0.0 <= kawaii["Stiffness"] < 1.0


def test_nothing_of_the_scene_changes_and_a_stop_writes_nothing(tmp_path, module):
    obj, rig, _ = swayer()
    bpy.context.scene.frame_set(7)
    before, action = snapshot.file_state(), rig.animation_data.action
    write(tmp_path / "hero.glb", count=2)
    assert snapshot.file_state() == before and bpy.context.scene.frame_current == 7
    assert rig.animation_data.action == action
    springs, limits = module("bridge.bake.springs"), module("core.bake.spring_fit").Limits
    task = springs.written(obj, tmp_path / "other.glb", limits(2), bpy.context, print)
    stages = set()
    for step in task:
        stages.add(step.stage)
        if step.fraction > 0.5:
            break
    task.close()
    assert snapshot.file_state() == before and bpy.context.scene.frame_current == 7
    assert rig.animation_data.action == action and len(stages) > 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["hero.glb", "hero.springs.json"]


def test_flesh_without_a_fair_spring_is_refused(tmp_path):
    obj, _, actions = swayer()
    path = str(tmp_path / "hero.glb")
    assert_refused(bpy.ops.jounce.export_springs, "Largest Error", filepath=path, fair=1.0, count=1)
    assert_refused(bpy.ops.jounce.export_springs, "No file was given")
    for action in actions:
        bpy.data.actions.remove(action)
    scenes.settle_scene(5)
    assert_refused(bpy.ops.jounce.export_springs, "too few frames", filepath=path)
    assert list(tmp_path.iterdir()) == []
