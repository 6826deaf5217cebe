"""Teleports: leaps are found, steady motion is none."""

import numpy as np
import pytest
from jounce_core.stepping.resets import Teleport, Teleports

CORNERS = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def places(pose):
    """Corners of a box in a pose of one bone."""
    return CORNERS @ pose[0, :, :3].T + pose[0, :, 3]


def at(x, turn=0.0):
    """One bone at a place, rotated about z."""
    c, s = np.cos(turn), np.sin(turn)
    return np.array([[[c, -s, 0.0, x], [s, c, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]]])


def found(poses, least=1.0):
    """The frames found as teleports."""
    teleports = Teleports(Teleport(places, least))
    followed = [teleports.follow(pose) for pose in poses]
    assert teleports.frames == [index for index, happened in enumerate(followed) if happened]
    return teleports.frames


def test_a_leap_is_found_once():
    assert found([at(x) for x in (0.0, 0.1, 0.2, 10.3, 10.4, 10.5)]) == [3]
    assert found([at(x) for x in (0.0, 0.0, 10.0, 10.0, 0.0, 0.0)]) == [2, 4]


def test_a_leap_out_of_a_fast_run_is_found_once():
    assert found([at(x) for x in (0.0, 2.0, 4.0, 6.0, -30.0, -28.0, -26.0)])[1:] == [4]


def test_turning_round_in_one_frame_is_a_leap():
    assert found([at(0.0), at(0.0), at(0.0, np.pi), at(0.0, np.pi)]) == [2]


@pytest.mark.parametrize("speed", [0.5, 0.9])
def test_a_run_that_starts_and_stops_is_none(speed):
    assert found([at(x) for x in np.cumsum([0.0, 0.0, speed, speed, speed, 0.0, 0.0, -speed])]) == []


def test_what_goes_on_as_fast_as_it_went_is_none():
    steps = np.cumsum([0.0, 0.9, 1.7, 2.5, 3.3, 3.3, 3.3, 2.5, 1.7, 0.9, 0.0])
    assert found([at(x) for x in steps]) == []


def test_poses_that_are_held_for_two_frames_are_none():
    assert found([at(x) for x in np.repeat(np.arange(6) * 0.9, 2)]) == []


def test_none_are_found_without_a_rule():
    teleports = Teleports(None)
    assert not any(teleports.follow(at(x)) for x in (0.0, 100.0, 0.0))
