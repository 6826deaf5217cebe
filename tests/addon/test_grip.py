"""Grabbing at reduced cost against the full mesh, and the modes as they are listed and shown."""

import jounce
import numpy as np
import pytest
from jounce_core import bodies, modes
from jounce_core.full_space import FineBody
from jounce_core.grip import SHARE, Grip
from jounce_core.task import Runner
from test_bodies import SETTINGS, tetrahedron

POINT = 3


@pytest.fixture(scope="module")
def body():
    surface = tetrahedron()
    Runner(bodies.build(surface, SETTINGS)).run(float("inf"))
    return bodies.CACHE.get(surface.digest(SETTINGS))


@pytest.fixture
def pose():
    pose = np.eye(3, 4)[np.newaxis].copy()
    pose[0, :, 3] = (0.3, -0.2, 0.1)
    return pose


@pytest.fixture
def grip(body):
    return Grip(body, np.ones(1), POINT)


def test_the_point_is_where_the_full_mesh_has_it(body, grip, pose):
    coefficients = 0.05 * np.random.default_rng(1).standard_normal((body.model.mode_count, 3, 4))
    u = body.model.displacement(coefficients, body.embedding)[POINT]
    expected = body.embedding.points[POINT] + pose[0, :, 3] + u
    assert np.allclose(grip.position(pose, coefficients), expected, atol=1e-6)


def test_the_generalised_force_is_that_of_the_full_mesh(body, grip):
    force = np.array([1.0, -2.0, 0.5])
    forces = np.zeros((len(body.embedding.points), 3))
    forces[POINT] = force
    assert np.allclose(grip.generalised(force), body.model.reduce_forces(forces, body.embedding))


def test_what_was_learnt_is_pulled_as_well(body, pose):
    rng = np.random.default_rng(2)
    basis = jounce.Basis(rng.standard_normal((5, len(body.mesh.vertices), 3)))
    fine = FineBody(body.reduced(basis), body.embedding)
    grip, coefficients = Grip(fine, np.ones(1), POINT), 0.05 * rng.standard_normal(5)
    moved = fine.model.displacement(coefficients, body.embedding)[POINT]
    expected = body.embedding.points[POINT] + pose[0, :, 3] + moved
    assert np.allclose(grip.position(pose, coefficients), expected, atol=1e-6)
    sim = jounce.Simulation(fine.model, damping=0.1)
    sim.reset(pose)
    step = np.array([1e-3, 0.0, 0.0]) / grip.compliance(sim, pose, 1.0)
    sim.step(pose, grip.generalised(step))
    assert 0.0 < (grip.position(pose, sim.coefficients) - grip.position(pose, np.zeros(5)))[0] <= 1.2e-3


def simulation(body):
    return jounce.Simulation(body.model, substeps=2, damping=0.1)


def test_measuring_the_compliance_leaves_the_simulation_as_it_was(body, grip, pose):
    sim = simulation(body)
    sim.reset(pose)
    before = sim.coefficients.copy()
    compliance = grip.compliance(sim, pose, 1.0)
    assert np.array_equal(sim.coefficients, before) and compliance > 0.0
    sim.step(pose, grip.generalised(np.array([1e-3 / compliance, 0.0, 0.0])))
    moved = np.linalg.norm(grip.position(pose, sim.coefficients) - grip.position(pose, before))
    assert 0.0 < moved <= 1e-3 * 1.2


def test_the_spring_brings_the_point_towards_its_target_and_stays_calm(body, grip, pose):
    sim = simulation(body)
    sim.reset(pose)
    start = grip.position(pose, sim.coefficients)
    target = start + [0.1, 0.0, 0.05]
    compliance = grip.compliance(sim, pose, 1.0)
    gaps = []
    for _ in range(60):
        sim.step(pose, grip.spring(target, pose, sim.coefficients, compliance))
        gaps.append(np.linalg.norm(target - grip.position(pose, sim.coefficients)))
    assert gaps[-1] < np.linalg.norm(target - start) / (1.0 + SHARE) and max(gaps) < 0.2
    assert np.allclose(gaps[-1], gaps[-5], rtol=0.05), "it does not come to rest"


def test_frequencies_are_multiples_of_the_lowest_that_deforms(body):
    ratios = modes.frequency_ratios(body)
    own = np.sqrt(body.modes.eigenvalues) / (2.0 * np.pi)
    assert np.allclose(ratios * body.model.frequency, own) and (np.diff(ratios) >= 0.0).all()


def test_a_swing_goes_to_both_sides_as_far_as_the_weights_say():
    weights, side = np.array([1.0, -0.5, 0.0]), np.array([0.0, 1.0, 0.0])
    there = modes.swing(weights, side, 2.0, np.pi / 2.0)
    assert there.dtype == np.float32 and np.allclose(there[:, 1], 2.0 * modes.REACH * weights)
    assert np.allclose(modes.swing(weights, side, 2.0, -np.pi / 2.0), -there)
    assert [modes.shown_rate(ratio) for ratio in (1.0, 2.0, 50.0)] == [1.0, 2.0, modes.FASTEST]
