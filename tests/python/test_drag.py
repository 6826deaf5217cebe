"""Drag: uniform, with the stated force, and refused for invalid values."""

import jounce
import numpy as np
import pytest
from refusals import refused


@pytest.fixture(scope="module")
def samples(model):
    return model.force_samples(5)


@pytest.fixture(scope="module")
def drag(samples):
    """Linear and quadratic drag in a wind."""
    return samples.drag(4.0 * samples.masses, 2.0 * samples.masses, np.tile([0.5, 0.0, -1.0], (5, 1)))


@pytest.fixture
def start(model):
    return lambda **settings: jounce.Simulation(model, dt=1 / 24, substeps=2, **settings)


def test_numbers_come_back(samples, drag):
    assert np.array_equal(drag.linear, 4.0 * samples.masses)
    assert np.array_equal(drag.quadratic, 2.0 * samples.masses)
    assert drag.velocity.tolist() == [[0.5, 0.0, -1.0]] * 5
    still = samples.drag(samples.masses)
    assert not still.quadratic.any()
    assert not still.velocity.any()
    assert repr(still) == "Drag(5 parts)"


def test_a_step_is_that_of_the_force_at_its_end(model, samples, drag, bar):
    settings = {"dt": 1 / 24, "tolerance": 1e-12, "max_iterations": 1000}
    sim, given = jounce.Simulation(model, **settings), jounce.Simulation(model, **settings)
    for pose in bar.poses[:3]:
        sim.step(pose, drag=drag)
    given.restore_state(sim.save_state())
    before = sim.sample_positions(samples)
    sim.step(bar.poses[3], drag=drag)
    relative = 24.0 * (sim.sample_positions(samples) - before) - drag.velocity
    speed = np.linalg.norm(relative, axis=1)
    force = -(drag.linear + drag.quadratic * speed)[:, None] * relative
    given.step(bar.poses[3], samples.reduce(force))
    scale = np.abs(sim.displacement()).max()
    np.testing.assert_allclose(sim.displacement(), given.displacement(), atol=1e-5 * scale)


def test_every_way_to_step_feels_it(start, drag, bar):
    poses = bar.poses[:5]
    plain, one, other, job = start(), start(), start(), jounce.MotionJob(start())
    for pose in poses:
        plain.step(pose)
        one.step(pose, drag=drag)
        jounce.step_together([other], [pose], drags=[drag])
        job.step(pose, drag=drag)
    job.keep()
    job.wait()
    assert not np.array_equal(plain.coefficients, one.coefficients)
    assert np.array_equal(one.coefficients, other.coefficients)
    assert np.array_equal(one.coefficients, job.coefficients()[0])
    for sim in (plain, one):
        sim.settle(poses[0], drag=drag if sim is one else None)
    job.settle(poses[0], drag=drag)
    job.keep()
    job.wait()
    assert not np.array_equal(plain.coefficients, one.coefficients)
    assert np.array_equal(one.coefficients, job.coefficients(1)[0])


def test_a_cycle_feels_it(start, drag, bar):
    poses = np.concatenate([bar.poses[:6], bar.poses[4::-1]])
    ends = []
    for drags in (None, [drag] * 11, [None, drag] * 5 + [None]):
        sim = start(damping=0.1)
        report = sim.settle_cycle(poses, drags=drags)
        assert max(report.position, report.velocity) < 1e-5
        ends.append(sim.coefficients)
    assert len({end.tobytes() for end in ends}) == 3
    job = jounce.MotionJob(start(damping=0.1))
    job.settle_cycle(poses, drags=[drag] * 11)
    job.keep()
    job.wait()
    assert np.array_equal(job.coefficients()[0], ends[1])


def test_what_makes_no_sense_is_refused(start, samples, drag, bar):
    ones = np.ones(5)
    refused(ValueError, "linear: expected shape (5,)", samples.drag, np.ones(4))
    refused(ValueError, "quadratic: expected shape (5,)", samples.drag, ones, np.ones((5, 1)))
    refused(ValueError, "velocity: expected shape (5, 3)", samples.drag, ones, None, ones)
    refused(ValueError, "every number must be finite", samples.drag, ones * np.nan)
    refused(ValueError, "linear: expected coefficients >= 0", samples.drag, -ones)
    refused(ValueError, "quadratic: expected coefficients >= 0", samples.drag, ones, -ones)
    refused(TypeError, "drag", start().step, bar.poses[0], drag=ones)
    sim = start()
    few = "drags: expected one for each of 3 poses, got 0"
    refused(ValueError, few, sim.settle_cycle, bar.poses[[0, 1, 0]], drags=[])
    together = "drags: expected one for each of 1 simulations, got 2"
    refused(ValueError, together, jounce.step_together, [sim], [bar.poses[0]], drags=[drag, None])
    mesh = jounce.TetMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]], [[0, 1, 2, 3]])
    modes = jounce.skinning_modes(mesh, jounce.Material(), 1)
    other = jounce.Model.skinning(mesh, jounce.Material(), modes, np.zeros(1, np.int32))
    alien = other.force_samples(1).drag(np.ones(1))
    refused(ValueError, "samples: expected shape samples of this model", sim.step, bar.poses[0], drag=alien)


def test_drag_at_the_vertices_of_the_full_space(model, mesh):
    material = jounce.Material(2e4, 0.3, 1000.0, "neo_hookean")
    full = jounce.Model.full_space(mesh, material)
    n = full.coefficient_shape[0]
    mass = np.bincount(mesh.tets.ravel(), np.repeat(250.0 * mesh.volumes, 4), n)
    wind = np.tile([0.5, 0.0, -1.0], (n, 1))
    drag = jounce.Drag(4.0 * mass, 2.0 * mass, wind)
    assert np.array_equal(drag.linear, 4.0 * mass) and np.array_equal(drag.velocity, wind)
    assert repr(drag) == f"Drag({n} vertices)"
    settings = {"dt": 1 / 24, "tolerance": 1e-12, "max_iterations": 1000, "gravity": (0.0, 0.0, -9.8)}
    sim, given = jounce.Simulation(full, **settings), jounce.Simulation(full, **settings)
    for _ in range(3):
        sim.step(drag=drag)
    given.restore_state(sim.save_state())
    before = sim.coefficients
    sim.step(drag=drag)
    relative = 24.0 * (sim.coefficients - before) - wind
    speed = np.linalg.norm(relative, axis=1, keepdims=True)
    given.step(force=-mass[:, None] * (4.0 + 2.0 * speed) * relative)
    np.testing.assert_allclose(sim.coefficients, given.coefficients, atol=1e-6)
    refused(ValueError, "drag: expected", sim.step, drag=jounce.Drag(np.ones(n + 1)))
    rest = np.tile(np.eye(3, 4), (3, 1, 1))
    refused(ValueError, "samples", jounce.Simulation(model).step, rest, drag=drag)
    refused(ValueError, "quadratic: expected shape", jounce.Drag, np.ones(3), np.ones(2))
    refused(ValueError, "linear: expected", jounce.Drag, np.full(3, -1.0))
