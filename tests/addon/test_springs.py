"""Spring bones: they move as in VRMC_springBone and Kawaii Physics, and a fit finds what swings."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from jounce_core.bake.spring_files import Hung
from jounce_core.bake.spring_fit import Limits, fitted, limited
from jounce_core.bake.springs import NONE, STEP, Clip, Springs, added, joined, swung

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "python"))

from spring_bones import SpringPlayer

SECONDS = 1.0 / 24.0


def finish(task):
    """The result of a task."""
    while True:
        try:
            next(task)
        except StopIteration as stop:
            return stop.value


def some(count, seed=0):
    """Springs with settings at random, all on bone 0."""
    random = np.random.default_rng(seed)
    axes = random.standard_normal((count, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    return Springs(
        np.zeros(count, int),
        random.standard_normal((count, 3)),
        axes,
        random.uniform(0.2, 2.0, count),
        random.uniform(0.5, 20.0, count),
        random.uniform(0.02, 0.6, count),
        random.uniform(0.0, 0.5, count),
    )


def shaken(frames, seed=0):
    """Poses (f, 1, 3, 4) of a bone that turns and travels at random, smoothly."""
    random, times = np.random.default_rng(seed), SECONDS * np.arange(frames)
    poses = np.zeros((frames, 1, 3, 4))
    rates = random.uniform(1.0, 8.0, (3, 4))
    waves = np.sin(rates[..., None] * times + random.uniform(0.0, 6.0, (3, 4, 1))).mean(axis=1)
    for row in range(frames):
        x, y, z = 1.2 * waves[:, row]
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        turn = np.linalg.solve(np.eye(3) + 0.5 * cross, np.eye(3) - 0.5 * cross)
        poses[row, 0, :, :3], poses[row, 0, :, 3] = turn, waves[::-1, row]
    return poses


def tail():
    """Points (p, 3) of a tail along x."""
    random = np.random.default_rng(3)
    return np.column_stack([np.linspace(0.0, 2.0, 120), 0.1 * random.standard_normal((120, 2))])


def test_a_step_is_that_of_the_specification():
    springs, poses = some(5), shaken(40)[:, 0]
    chains = [
        {
            "joints": [
                {
                    "node": 2 * index,
                    "stiffness": springs.stiffness[index],
                    "dragForce": springs.drags[index],
                    "gravityPower": springs.gravity[index],
                    "gravityDir": [0.0, 0.0, -1.0],
                },
                {"node": 2 * index + 1},
            ]
        }
        for index in range(5)
    ]
    player = SpringPlayer(SimpleNamespace(json={"extensions": {"VRMC_springBone": {"springs": chains}}}))
    pivots = np.einsum("fij,kj->fki", poses[..., :3], springs.pivots) + poses[:, None, :, 3]
    axes = np.einsum("fij,kj->fki", poses[..., :3], springs.axes)
    found = swung(pivots, axes, springs)
    for row in range(len(poses)):
        worlds = np.tile(np.eye(4), (10, 1, 1))
        worlds[0::2, :3, 3] = pivots[row]
        worlds[1::2, :3, 3] = pivots[row] + springs.lengths[:, None] * axes[row]
        tails = player.step(worlds)[player.tails, :3, 3]
        aims = (tails - pivots[row]) / springs.lengths[:, None]
        assert np.abs(aims - found[row]).max() < 1e-12


def test_kawaii_physics_moves_alike():
    springs, poses = some(4, seed=1), shaken(60, seed=1)[:, 0]
    pivots = np.einsum("fij,kj->fki", poses[..., :3], springs.pivots) + poses[:, None, :, 3]
    axes = np.einsum("fij,kj->fki", poses[..., :3], springs.axes)
    found = swung(pivots, axes, springs)
    told = Hung(springs, tuple(("a", "b", "c") for _ in range(4))).kawaii()
    for index, settings in enumerate(told):
        length = springs.lengths[index]
        place = before = pivots[0, index] + length * axes[0, index]
        for row, pivot in enumerate(pivots[:, index]):
            velocity = (place - before) / STEP * (1.0 - settings["Damping"])
            velocity += np.array(settings["Gravity"]) / 100.0 * STEP
            before, rest = place, pivot + length * axes[row, index]
            place = place + velocity * STEP
            place = place + settings["Stiffness"] * (rest - place)
            aim = (place - pivot) / np.linalg.norm(place - pivot)
            place = pivot + length * aim
            assert np.abs(aim - found[row, index]).max() < 1e-9


def swinging(poses, points, springs, shares):
    """A clip that moves as springs do."""
    bare = Clip(poses, np.zeros((len(poses), len(points), 3)), SECONDS)
    return Clip(poses, added(bare, springs, shares, points), SECONDS)


def test_flesh_that_swings_as_a_spring_is_found_to_a_quarter_of_unseen_motion():
    points = tail()
    springs = Springs(
        np.zeros(1, int),
        np.zeros((1, 3)),
        np.array([[1.0, 0.0, 0.0]]),
        np.array([1.5]),
        np.array([1.5 * (2.0 * np.pi * 2.0) ** 2 * STEP]),
        np.array([0.12]),
        np.zeros(1),
    )
    shares = np.linspace(0.1, 0.9, len(points))[:, None]
    clips = [swinging(shaken(80, seed), points, springs, shares) for seed in (5, 6, 7)]
    fit = finish(fitted(points, np.ones((len(points), 1)), clips[:2], clips[2:], Limits(count=3)))
    print(f"{len(fit.springs)} springs miss {fit.error:.1%}")
    assert fit.error < 0.25 and fit.errors == pytest.approx({0: fit.error}) and not fit.unfair
    assert (fit.shares.sum(axis=1) <= 1.0 + 1e-12).all() and fit.shares.min() >= 0.0


def test_flesh_that_swings_otherwise_where_the_fit_has_not_looked_gets_no_spring():
    points, random = tail(), np.random.default_rng(0)
    springs, shares = some(1, seed=2), np.full((len(points), 1), 0.5)
    seen = swinging(shaken(60, 1), points, springs, shares)
    unseen = Clip(shaken(60, 2), 0.1 * random.standard_normal((60, len(points), 3)), SECONDS)
    fit = finish(fitted(points, np.ones((len(points), 1)), [seen], [unseen], Limits(count=2)))
    assert len(fit.springs) == 0 and fit.shares.shape == (len(points), 0)
    assert fit.unfair[0] > 0.6


def test_no_vertex_has_more_bones_than_allowed():
    random = np.random.default_rng(0)
    weights = random.dirichlet(np.ones(3), 50)
    weights[:10, 2] = 0.0
    weights /= weights.sum(axis=1, keepdims=True)
    bones = np.array([0, 1, 0, 2])
    shares = 0.2 * random.random((50, 4)) * weights[:, bones]
    kept = limited(shares, bones, weights, 4)
    left = weights.copy()
    np.subtract.at(left.T, bones, kept.T)
    assert (np.count_nonzero(left > 1e-6, axis=1) + np.count_nonzero(kept, axis=1) <= 4).all()
    assert ((kept == shares) | (kept == 0.0)).all() and kept[:, :].any(axis=0).all()
    assert np.array_equal(limited(shares, bones, weights, 8), shares)


def test_springs_join_and_part():
    springs = some(6)
    parts = joined([NONE, springs.chosen(np.array([0, 1])), springs.chosen(np.arange(2, 6))])
    assert len(parts) == 6 and np.array_equal(parts.pivots, springs.pivots)
