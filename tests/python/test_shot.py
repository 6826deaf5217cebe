"""Features of simulations for shots: limits, cuts, several bodies at once, fields read in a pose."""

import jounce
import numpy as np
import pytest
from refusals import refused


@pytest.fixture
def start(model):
    """Makes simulations of the bar."""
    return lambda **settings: jounce.Simulation(model, dt=1 / 24, substeps=2, **settings)


def moved(sim):
    return np.linalg.norm(sim.displacement(), axis=1).max()


def test_a_limit_holds(start, bar):
    size = np.linalg.norm(np.ptp(bar.vertices, axis=0))
    free, limited = start(stiffness=0.01), start(stiffness=0.01, limit=0.01)
    largest = [0.0, 0.0]
    for pose in bar.poses:
        for index, sim in enumerate((free, limited)):
            sim.step(pose)
            largest[index] = max(largest[index], moved(sim) / size)
    assert largest[0] > 0.015
    assert 0.005 < largest[1] < 0.0105
    refused(ValueError, "limit: expected a positive share of the diagonal", start, limit=0.0)


def test_cuts(start, bar):
    sim = start()
    for pose in bar.poses[:6]:
        sim.step(pose)
    before = moved(sim)
    far = bar.poses[5].copy()
    far[:, :, 3] += 50.0
    sim.cut(far)
    assert moved(sim) == pytest.approx(before)
    sim.reset(far)
    assert moved(sim) == 0.0
    refused(ValueError, "pose: expected shape", sim.cut, far[:1])


def test_coasting_starts_without_a_jolt(start, bar):
    def after_a_frame(coasts):
        sim = start()
        first, second = bar.poses[0], bar.poses[0].copy()
        second[:, 0, 3] += 0.2
        sim.reset(first)
        if coasts:
            sim.coast(second)
        sim.step(second)
        return moved(sim)

    assert after_a_frame(True) < 1e-6 * after_a_frame(False)
    refused(ValueError, "pose: expected shape", start().coast, bar.poses[0][:1])


def test_together_as_alone(start, bar, model):
    alone, together = [start() for _ in range(3)], [start() for _ in range(3)]
    force = np.full((model.mode_count, 3, 4), 0.01)
    for frame in range(6):
        poses = [bar.poses[frame], bar.poses[frame + 1], bar.poses[frame + 2]]
        forces = [None, force, None]
        reports = jounce.step_together(together, poses, forces)
        expected = [sim.step(pose, f) for sim, pose, f in zip(alone, poses, forces, strict=True)]
        assert [r.iterations for r in reports] == [r.iterations for r in expected]
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.coefficients, other.coefficients)


def test_together_refuses(start, bar):
    one, other = start(), start()
    pose = bar.poses[0]
    refused(ValueError, "poses: expected one for each of 2", jounce.step_together, [one, other], [pose])
    refused(ValueError, "forces: expected one for each", jounce.step_together, [one], [pose], [None, None])
    twice = "simulations: one is in use, or there twice"
    refused(ValueError, twice, jounce.step_together, [one, one], [pose] * 2)
    refused(ValueError, "pose: expected shape", jounce.step_together, [one, other], [pose, pose[:1]])
    assert jounce.step_together([], []) == []


def test_samples_follow_the_pose_alone(start, bar, model):
    samples = model.force_samples(5)
    rest = np.tile(np.eye(3, 4), (len(bar.poses[0]), 1, 1))
    np.testing.assert_allclose(samples.posed(rest), samples.points, atol=1e-12)
    sim = start()
    sim.reset(bar.poses[6])
    np.testing.assert_allclose(samples.posed(bar.poses[6]), sim.sample_positions(samples), atol=1e-12)
    refused(ValueError, "pose: expected shape", samples.posed, rest[:1])


def test_numbers_in_errors_are_short(start, bar):
    with pytest.raises(ValueError, match="bone 0 has the number 1e300") as caught:
        start().step(1e300 * np.ones_like(bar.poses[0]))
    assert len(str(caught.value)) < 90
