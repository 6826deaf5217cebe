"""Shapes of modes, the motion in each, and samples."""

import jounce
import numpy as np
import pytest
from jounce import operators
from jounce_core.body import built_bodies
from jounce_core.common.task import Runner
from jounce_core.display import cage, modes
from test_built_bodies import SETTINGS, tetrahedron


@pytest.fixture(scope="module")
def surface():
    return tetrahedron()


@pytest.fixture(scope="module")
def body(surface):
    Runner(built_bodies.build(surface, SETTINGS)).run(float("inf"))
    return built_bodies.CACHE.get(surface.digest(SETTINGS))


@pytest.fixture(scope="module")
def found(body, surface):
    """Vibrations of the body."""
    runner = Runner(modes.vibrations(body, surface))
    runner.run(float("inf"))
    return runner.message


def test_the_motion_of_a_mode_is_its_displacement_over_the_mass(body):
    coefficients = np.random.default_rng(3).normal(size=body.model.coefficient_shape)
    found = modes.amplitudes(modes.moments(body), coefficients)
    mass = operators.lumped_mass(body.mesh, body.material)
    for mode in range(len(coefficients)):
        alone = np.zeros_like(coefficients)
        alone[mode] = coefficients[mode]
        moved = body.model.displacement(alone).astype(np.float64)
        expected = np.sqrt((mass * (moved**2).sum(axis=1)).sum() / mass.sum())
        assert abs(found[mode] / expected - 1.0) < 1e-5


def test_vibrations_are_those_of_the_flesh_on_its_rig(body, found):
    own = jounce.linear_modes(body.mesh, body.material, modes.LINEAR, body.rig, body.leak, body.pinned)
    assert np.array_equal(found.modes, own.shapes)
    assert np.allclose(found.ratios * body.model.frequency, own.frequencies, rtol=1e-14)
    assert [found.pair(number) for number in (0, 1, 8)] == [(0, 0), (0, 1), (1, 1)]
    assert len(found.derivatives) == 36 and np.abs(found.modes[:, body.pinned]).max(initial=0.0) == 0.0


def test_vibrations_tell_their_progress_and_can_be_stopped(body, surface):
    task = modes.vibrations(body, surface)
    step = next(task)
    assert step.stage.startswith("Linear modes") and 0.0 <= step.fraction <= 1.0
    task.close()


def test_shapes_have_a_longest_displacement_of_one(body, found):
    for shape in (
        modes.skinning_shape(body, 1, np.array([0.6, 0.0, 0.8])),
        modes.shape_of(body, found.derivatives[4]),
    ):
        assert abs(np.linalg.norm(shape, axis=1).max() - 1.0) < 1e-12
    assert not modes.longest_one(np.zeros((3, 3))).any()


def test_sampled_tets_come_in_levels_of_their_weights(body):
    tets, weights = np.arange(10), np.arange(10.0)[::-1]
    levels = cage.sample_edges(body, tets, weights)
    assert [len(level) for level in levels] == [12] * 5
    assert set(levels[0].ravel()) == set(body.mesh.tets[[8, 9]].ravel())
    assert cage.sample_edges(body, np.array([len(body.mesh.tets)]), np.ones(1)) == []
