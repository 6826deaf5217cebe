"""Deleted faces, distinguished from merged ones, and their storage."""

import numpy as np
import pytest
from jounce_core.mesh.hidden_faces import Stage, deleted, packed, unpacked

AREAS = np.array([1.0, 2.0, 3.0, 4.0])


def stage(numbers, areas):
    return Stage(np.array(numbers, np.int32), np.array(areas))


BASE = stage([1, 2, 3, 4], AREAS)


def test_deleted_faces_take_their_area_along():
    assert deleted([BASE, stage([1, 3], [1.0, 3.0])], 4).tolist() == [False, True, False, True]
    assert deleted([BASE, stage([], [])], 4).all()


def test_merged_faces_leave_their_area_to_others():
    assert not deleted([BASE, stage([1, 3], [5.0, 5.0])], 4).any()
    assert not deleted([BASE, stage([2, 2, 0], [4.0, 4.0, 1.5])], 4).any()


def test_each_modifier_is_judged_by_what_came_before_it():
    solid = stage([1, 2, 3, 4, 1, 2, 3, 4], [*AREAS, *AREAS])
    masked = stage([1, 2, 1, 2], [1.0, 2.0, 1.0, 2.0])
    coarse = stage([2], [6.0])
    assert deleted([BASE, solid, masked, coarse], 4).tolist() == [False, False, True, True]
    assert not deleted([BASE], 4).any()


@pytest.mark.parametrize("count", [1, 7, 8, 5000])
def test_flags_come_back(count):
    flags = np.random.default_rng(count).random(count) < 0.3
    flags[0] = True
    assert np.array_equal(unpacked(packed(flags), count), flags)
    assert not unpacked(packed(flags), count + 1).any()
    assert packed(np.zeros(count, bool)) == "" and not unpacked("", count).any()
