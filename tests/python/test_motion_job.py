"""A simulation on a separate thread gives the same bits, and the same refusals."""

import gc
import time

import jounce
import numpy as np
import pytest


@pytest.fixture
def force(model):
    """A generalised force for bending the body."""
    forces = np.zeros((model.mode_count, 3, 4))
    forces[0, 1, 3] = 0.5
    return forces


def drive(target, poses, force):
    """All operations of a simulation."""
    target.reset(poses[0])
    target.step(poses[1])
    target.strength = 0.5
    target.step(poses[2], force)
    target.step(pose=poses[3])


def test_the_same_bits_in_the_same_order(simulation, bar, force):
    job = jounce.MotionJob(simulation)
    drive(job, bar.poses, force)
    job.keep()
    job.settle(bar.poses[4], force, max_iterations=50)
    job.keep(state=True)
    job.wait()
    assert (job.kept, job.done, job.strength) == (2, True, 0.5)
    assert np.array_equal(simulation.coefficients, np.zeros_like(simulation.coefficients))
    drive(simulation, bar.poses, force)
    assert np.array_equal(job.coefficients()[0], simulation.coefficients)
    simulation.settle(bar.poses[4], force, max_iterations=50)
    assert np.array_equal(job.coefficients(1)[0], simulation.coefficients)
    assert job.coefficients(2).shape == (0, *simulation.coefficients.shape)


def test_it_goes_on_from_the_state_of_the_simulation_and_of_its_own(simulation, bar):
    simulation.reset(bar.poses[0])
    simulation.step(bar.poses[1])
    job = jounce.MotionJob(simulation)
    job.step(bar.poses[2])
    job.keep(state=True)
    job.keep()
    job.step(bar.poses[3])
    job.keep()
    job.wait()
    assert job.state(1) is None
    assert job.state(7) is None
    for pose, coefficients in zip(bar.poses[2:4], job.coefficients()[[0, 2]], strict=True):
        simulation.step(pose)
        assert np.array_equal(simulation.coefficients, coefficients)
    simulation.restore_state(job.state(0))
    simulation.step(bar.poses[3])
    assert np.array_equal(simulation.coefficients, job.coefficients(2)[0])


def test_settings_that_vary_and_cycles_have_the_same_bits(simulation, bar):
    cycle = np.concatenate([bar.poses[:4], bar.poses[:1]])
    job = jounce.MotionJob(simulation)

    def play(target):
        target.settle_cycle(cycle)
        for number, pose in enumerate(cycle[1:], start=1):
            target.vary(
                stiffness=1.0 + number, damping=0.1 * number, gravity=(0.0, 0.0, -number), pose_rest=0.5
            )
            target.step(pose)

    play(job)
    job.keep()
    play(simulation)
    assert np.array_equal(job.coefficients(job.wait() or 0)[0], simulation.coefficients)


def test_closing_a_cycle_is_reported_and_stops_at_once(simulation, bar):
    cycle = np.concatenate([bar.poses[:4], bar.poses[:1]])
    job = jounce.MotionJob(simulation)
    assert job.report is None
    job.settle_cycle(cycle)
    job.wait()
    expected = simulation.settle_cycle(cycle)
    assert (job.report.passes, job.report.position) == (expected.passes, expected.position)
    endless = jounce.MotionJob(simulation)
    endless.settle_cycle(cycle, max_passes=1_000_000_000, tolerance=0.0)
    deadline = time.monotonic() + 60.0
    while endless.progress == 0.0 and time.monotonic() < deadline:
        time.sleep(0.001)
    endless.cancel()
    before = -1.0
    while endless.progress != before and time.monotonic() < deadline:
        before = endless.progress
        time.sleep(0.2)
    assert 0.0 < before == endless.progress
    assert endless.report is None
    assert endless.kept == 0


def test_varied_settings_are_those_of_a_simulation_made_with_them(model, bar):
    settings = {"stiffness": 3.0, "damping": 0.3, "gravity": (0.0, -2.0, 0.0), "pose_rest": 0.2}
    made, varied = jounce.Simulation(model, **settings), jounce.Simulation(model)
    varied.vary(**settings)
    for pose in bar.poses[:4]:
        made.step(pose)
        varied.step(pose)
    assert np.array_equal(made.coefficients, varied.coefficients)
    with pytest.raises(ValueError, match="damping"):
        varied.vary(stiffness=5.0, damping=-1.0)
    made.step(bar.poses[4])
    varied.step(bar.poses[4])
    assert np.array_equal(made.coefficients, varied.coefficients)


def test_wrong_arrays_raise_at_once_and_wrong_numbers_when_they_are_reached(simulation, bar):
    job = jounce.MotionJob(simulation)
    with pytest.raises(ValueError, match=r"^pose: expected shape|^pose"):
        job.step(np.zeros((2, 3, 4)))
    job.reset(bar.poses[0])
    job.step(np.full_like(bar.poses[0], np.nan))
    job.keep()
    with pytest.raises(ValueError, match="pose"):
        job.wait()
    with pytest.raises(ValueError, match="pose"):
        job.coefficients()
    assert job.done
    assert job.kept == 0


def test_a_cancelled_or_dropped_job_leaves_nothing_waiting(simulation, bar):
    for _ in range(20):
        job = jounce.MotionJob(simulation)
        for pose in bar.poses:
            job.step(pose)
        job.keep()
    job.cancel()
    job.wait()
    assert job.done
    del job
    gc.collect()
