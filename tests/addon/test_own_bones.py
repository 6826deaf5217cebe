"""A motion on the existing bones of a rig: their possible part is found, and the rest of the rig stays."""

import numpy as np
import pytest
from jounce_core.bake.helper_bones import Skeleton, Wanted, keyed
from jounce_core.bake.own_bones import fitted, skinned
from jounce_core.common.user_error import UserError

FRAMES = 6


def finish(task):
    """The result of a task."""
    while True:
        try:
            next(task)
        except StopIteration as stop:
            return stop.value


def tail(bones=4, rings=9):
    """A tail along x on a chain of bones, each 1 m long: its skeleton, points and weights."""
    rests = np.tile(np.eye(4), (bones, 1, 1))
    rests[:, 0, 3] = np.arange(bones)
    skeleton = Skeleton(tuple("abcdef"[:bones]), np.arange(bones) - 1, rests, np.ones(bones))
    x = np.linspace(0.0, bones, rings * bones)
    points = np.array([(at, 0.2 * np.cos(a), 0.2 * np.sin(a)) for at in x for a in (0.0, 2.1, 4.2)])
    weights = np.maximum(0.0, 1.0 - np.abs(points[:, :1] - 0.5 - np.arange(bones)))
    return skeleton, points, weights / weights.sum(axis=1, keepdims=True)


def bent(skeleton, angles):
    """The motion T (f, b, 3, 4) of bones rotated about z by angles (f, b) below their parents."""
    motion = np.zeros((*angles.shape, 3, 4))
    for frame, row in enumerate(angles):
        above = np.eye(4)
        for bone, angle in enumerate(row):
            local = np.eye(4)
            local[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
            head = skeleton.rests[bone]
            above = above @ head @ local @ np.linalg.inv(head)
            motion[frame, bone] = above[:3]
    return motion


# Translating bones share motion that each could play alone, and converge slowly.
@pytest.mark.parametrize(("turn_only", "share"), [(True, 0.01), (False, 0.03)])
def test_what_the_bones_can_play_is_found(turn_only, share):
    skeleton, points, weights = tail()
    random = np.random.default_rng(2)
    start = bent(skeleton, random.uniform(-0.2, 0.2, (FRAMES, 4)))
    goal = bent(skeleton, random.uniform(-0.5, 0.5, (FRAMES, 4)))
    wanted = Wanted(points, skinned(Wanted(points, None, weights), goal).astype(np.float32), weights)
    before = np.sqrt(np.mean(np.sum((skinned(wanted, start) - wanted.frames) ** 2, axis=2)))
    fit = finish(fitted(wanted, skeleton, start, np.ones(4, bool), turn_only))
    assert fit.rms < share * before and before > 0.1
    assert np.array_equal(fit.weights, weights) and fit.skeleton is skeleton
    if turn_only:
        assert np.allclose(fit.channels.locations[:, 1:], 0.0, atol=1e-9)
        assert np.allclose(fit.channels.scales, 1.0, atol=1e-9)


def test_bones_that_are_not_chosen_keep_their_keys():
    skeleton, points, weights = tail()
    random = np.random.default_rng(3)
    start = bent(skeleton, random.uniform(-0.2, 0.2, (FRAMES, 4)))
    goal = bent(skeleton, random.uniform(-0.5, 0.5, (FRAMES, 4)))
    wanted = Wanted(points, skinned(Wanted(points, None, weights), goal).astype(np.float32), weights)
    before, _ = keyed(skeleton, start)
    fit = finish(fitted(wanted, skeleton, start, np.array([False, False, True, False]), True))
    for bone in (0, 1, 3):
        assert np.allclose(fit.channels.rotations[:, bone], before.rotations[:, bone], atol=1e-9)
    assert not np.allclose(fit.channels.rotations[:, 2], before.rotations[:, 2], atol=1e-2)


def test_without_flesh_the_rig_moves_as_it_did():
    skeleton, points, weights = tail()
    start = bent(skeleton, np.random.default_rng(4).uniform(-0.2, 0.2, (FRAMES, 4)))
    wanted = Wanted(points, skinned(Wanted(points, None, weights), start), weights)
    fit = finish(fitted(wanted, skeleton, start, np.ones(4, bool), True))
    assert fit.error < 1e-9


def test_bones_that_move_nothing_are_refused():
    skeleton, points, weights = tail()
    weights[:, 3] = 0.0
    wanted = Wanted(points, np.zeros((FRAMES, *points.shape)), weights)
    start = bent(skeleton, np.zeros((FRAMES, 4)))
    with pytest.raises(UserError, match="moves a vertex"):
        finish(fitted(wanted, skeleton, start, np.array([False, False, False, True]), True))
