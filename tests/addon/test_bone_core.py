"""Still bones of a core."""

from dataclasses import replace

import numpy as np
from jounce_core.rig.bone_core import BoneCore, PartSetting, Role, still_bones

#        0 body, 1 tail, 2 tail, 3 tail, 4 arm, 5 hand, 6 finger, 7 belly
PARENTS = np.array([-1, 0, 1, 2, 0, 4, 5, 0])
NAMES = ("Body", "Bone.001", "Bone.002", "Bone.003", "Arm", "Hand", "Bone.004", "Belly")


def still(*moved):
    """The still bones for these moved ones."""
    return [bone for bone, is_still in enumerate(still_bones(PARENTS, flags(moved), NAMES)) if is_still]


def flags(bones):
    return np.isin(np.arange(len(NAMES)), bones)


def test_a_chain_is_still_where_nothing_of_it_is_moved():
    assert still(0, 4) == [1, 2, 3]
    assert still(0, 1) == [2, 3]


def test_what_moves_its_end_moves_a_chain():
    assert still(0, 3) == []


def test_hands_and_single_bones_are_left_out():
    assert 5 not in still(0) and 6 not in still(0) and 7 not in still(0)


def test_where_nothing_moves_or_all_does_nothing_is_still():
    assert still_bones(PARENTS, flags([]), NAMES) == ()
    assert still_bones(PARENTS, flags(range(8)), NAMES) == ()


def test_only_bones_that_were_not_told_to_swing_by_themselves():
    heads = np.zeros((3, 3))
    roles = (Role.AUTOMATIC, Role.FREE, Role.AUTOMATIC)
    core = BoneCore(heads, np.array([-1, 0, 1]), ("", "", ""), roles, 0.5)
    assert core.swings(["flesh", "free", "free"]).tolist() == [False, False, True]


def test_without_still_bones_a_core_is_told_apart_as_before():
    heads, parents = np.zeros((2, 3)), np.array([-1, 0])
    plain = BoneCore(heads, parents, ("", ""), (Role.AUTOMATIC,) * 2, 0.5)
    swinging = BoneCore(heads, parents, ("", ""), (Role.AUTOMATIC,) * 2, 0.5, still=(False, True))
    assert plain.words == (("", ""), ("AUTOMATIC",) * 2, 0.5) != swinging.words


def test_without_anatomy_a_core_is_told_apart_as_before():
    heads, parents = np.zeros((2, 3)), np.array([-1, 0])
    roles = (Role.AUTOMATIC,) * 2
    plain = BoneCore(heads, parents, ("", ""), roles, 0.5, parts=(PartSetting("belly", 2.0),))
    living = BoneCore(heads, parents, ("", ""), roles, 0.5, anatomy=True)
    softer = BoneCore(heads, parents, ("", ""), roles, 0.5, anatomy=True, parts=(PartSetting("belly", 2.0),))
    assert plain.words == (("", ""), ("AUTOMATIC",) * 2, 0.5)
    assert len({plain.words, living.words, softer.words}) == 3


def test_parts_tell_cores_with_anatomy_apart():
    heads, parents = np.zeros((2, 3)), np.array([-1, 0])
    plain = BoneCore(heads, parents, ("", ""), (Role.AUTOMATIC,) * 2, 0.5)
    regional = replace(plain, anatomy=True)
    softer = replace(regional, parts=(PartSetting("belly", softness=2.0),))
    assert len({plain.words, regional.words, softer.words}) == 3
    assert softer.native(8)
