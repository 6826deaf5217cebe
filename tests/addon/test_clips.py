"""Clips on other rigs: names, rest poses, refusals."""

import numpy as np
import pytest
from jounce_core.common.user_error import UserError
from jounce_core.rig import clips
from jounce_core.rig.clips import BoneClip, Clip
from jounce_core.rig.volume import as_matrices


def turn(axis, angle):
    axis = np.asarray(axis, dtype=float) / np.linalg.norm(axis)
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])


def rest(quaternion):
    matrix = np.eye(4)
    matrix[:3, :3] = as_matrices(quaternion[None])[0]
    return matrix


@pytest.fixture
def bone():
    turns = np.array([turn((1.0, 0.2, -0.5), angle) for angle in np.linspace(0.0, 6.0, 20)])
    places = np.random.default_rng(1).normal(size=(20, 3))
    return BoneClip(rest(turn((0.0, 1.0, 2.0), 0.7)), np.arange(20.0), turns, places)


def test_prefixes_do_not_matter():
    found = clips.matching(["mixamorig:Hips", "mixamorig:LeftArm"], ["mixamorig7:Hips", "leftarm", "Tail"])
    assert found == {"mixamorig7:Hips": "mixamorig:Hips", "leftarm": "mixamorig:LeftArm"}


@pytest.mark.parametrize("prefix", ["Character1_", "Character1_Ctrl:", "DEF-", "rig.", "hero:Character1_"])
def test_no_prefix_that_a_rig_gives_to_its_bones_matters(prefix):
    names = ["Hips", "Spine", "LeftUpLeg", "LeftLeg", "Head", "Left_Hand"]
    named = {f"{prefix}{name}": name for name in names}
    assert clips.matching(names, ["Root", *named]) == named
    assert clips.matching([*named, "Reference"], names) == {name: bone for bone, name in named.items()}
    other = {f"Character2_{name}": f"{prefix}{name}" for name in names}
    assert clips.matching(named, other) == other


def test_a_side_is_no_prefix():
    names = ["L_Arm", "R_Arm", "L_Leg", "R_Leg", "Spine"]
    assert clips.matching(names, names) == {name: name for name in names}
    assert clips.matching(names, ["L_Arm", "L_Leg", "L_Hand"]) == {"L_Arm": "L_Arm", "L_Leg": "L_Leg"}
    assert clips.matching(["R_Arm", "R_Leg", "Spine"], ["L_Arm", "L_Leg", "Spine"]) == {"Spine": "Spine"}


def test_the_same_rest_pose_keeps_every_rotation(bone):
    assert np.allclose(clips.rotations(bone, bone.rest), bone.rotations, atol=1e-12)


def test_another_rest_pose_turns_as_far_from_rest_in_the_world(bone):
    other = rest(turn((1.0, -1.0, 0.3), 2.0))
    turned = as_matrices(clips.rotations(bone, other))
    own, theirs = other[:3, :3], bone.rest[:3, :3]
    assert np.allclose(own @ turned @ own.T, theirs @ as_matrices(bone.rotations) @ theirs.T, atol=1e-12)
    moved = clips.locations(bone, other, 2.0)
    assert np.allclose(moved @ own.T, 2.0 * bone.locations @ theirs.T, atol=1e-12)


def test_neighbouring_rotations_stay_in_one_half(bone):
    flipped = BoneClip(
        bone.rest, bone.times, bone.rotations * np.tile([[1.0], [-1.0]], (10, 1)), bone.locations
    )
    turned = clips.rotations(flipped, rest(turn((1.0, 1.0, 1.0), 1.0)))
    assert ((turned[1:] * turned[:-1]).sum(axis=1) > 0.0).all()


def test_a_clip_for_another_kind_of_rig_is_refused(bone):
    names = ["Hips", "Spine", "Tail1", "Tail2", "Tail3"]
    clip = Clip("swim", 30.0, 1.0, 20.0, 1.0, dict.fromkeys(names, bone), dict.fromkeys(names))
    with pytest.raises(UserError, match="Only 2 of the 5 bones that swim moves are found in Rig"):
        clips.refuse_foreign(clip, clips.matching(names, ["a:Hips", "a:Spine"]), "Rig")
    with pytest.raises(UserError, match="moves no bone"):
        clips.refuse_foreign(Clip("still", 30.0, 1.0, 2.0, 1.0), {}, "Rig")


def test_a_folder_lists_its_clips_by_name(tmp_path):
    for name in ("b.FBX", "a.fbx", "notes.txt"):
        (tmp_path / name).touch()
    assert [path.name for path in clips.files(tmp_path)] == ["a.fbx", "b.FBX"]
    with pytest.raises(UserError, match="There is no folder"):
        clips.files(tmp_path / "missing")
