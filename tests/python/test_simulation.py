"""Simulations from Python: rest, replay, files; results do not depend on threads or on the caller."""

import sys
import threading

import cases
import jounce
import numpy as np
import pytest


def run(simulation, poses):
    simulation.reset(poses[0])
    frames = []
    for pose in poses[1:]:
        simulation.step(pose)
        frames.append(simulation.coefficients)
    return np.array(frames)


def test_a_held_pose_stays_as_it_is(simulation, bar):
    simulation.reset(bar.poses[20])
    for _ in range(5):
        simulation.step(bar.poses[20])
    assert np.abs(simulation.displacement()).max() < 1e-6


def test_flesh_moves_and_does_what_the_rig_cannot(simulation, mesh, modes, rig, bar):
    run(simulation, bar.poses[:30])
    assert np.abs(simulation.displacement()).max() > 1e-3
    mass = np.zeros(len(mesh.vertices))
    np.add.at(mass, mesh.tets, np.repeat(mesh.volumes[:, None] / 4, 4, 1))
    factor = mass * np.maximum(1 - jounce.momentum_leak(mesh), 1e-6)
    points = np.column_stack([mesh.vertices, np.ones(len(mass))])
    jacobian = (rig.weights[:, :, None] * points[:, None, :]).reshape(len(mass), -1)
    exact = np.einsum("ik,kdc,ic->id", modes.weights, simulation.coefficients, points)
    overlap = np.abs(jacobian.T @ (factor[:, None] * exact))
    assert (overlap / (np.abs(jacobian).T @ (factor[:, None] * np.abs(exact)))).max() < 1e-8


def test_displacements_follow_from_the_coefficients(simulation, model, modes, mesh, bar):
    run(simulation, bar.poses[:10])
    points = np.column_stack([mesh.vertices, np.ones(len(mesh.vertices))])
    expected = np.einsum("ik,kdc,ic->id", modes.weights, simulation.coefficients, points)
    tolerance = 1e-5 * np.abs(expected).max()
    assert np.abs(simulation.displacement() - expected).max() < tolerance
    assert np.array_equal(simulation.displacement(), model.displacement(simulation.coefficients))
    inside = np.ascontiguousarray(mesh.vertices[mesh.tets].mean(1))
    embedding = jounce.Embedding(mesh, inside)
    points = np.column_stack([inside, np.ones(len(inside))])
    weights = embedding.interpolate(modes.weights)
    expected = np.einsum("ik,kdc,ic->id", weights, simulation.coefficients, points)
    got = model.displacement(simulation.coefficients, embedding)
    assert np.abs(got - expected).max() < tolerance


def test_the_callers_array_is_filled_and_returned(simulation, model, mesh, bar):
    run(simulation, bar.poses[:5])
    out = np.full((len(mesh.vertices), 3), 7.0, np.float32)
    assert simulation.displacement(out) is out
    assert np.array_equal(out, simulation.displacement())
    other = np.zeros_like(out)
    assert model.displacement(simulation.coefficients, out=other) is other
    assert np.array_equal(other, out)


def test_coefficients_are_a_read_only_snapshot(simulation, bar):
    run(simulation, bar.poses[:5])
    kept = simulation.coefficients
    with pytest.raises(ValueError, match="read-only"):
        kept[0] = 0
    copy = kept.copy()
    simulation.step(bar.poses[6])
    assert np.array_equal(kept, copy)
    with pytest.raises(AttributeError):
        simulation.coefficients = copy


def test_a_state_replays_the_same_bits(simulation, bar):
    run(simulation, bar.poses[:20])
    state = simulation.save_state()
    simulation.step(bar.poses[20])
    simulation.step(bar.poses[21])
    first = simulation.coefficients
    simulation.restore_state(state)
    simulation.step(bar.poses[20])
    simulation.step(bar.poses[21])
    assert np.array_equal(simulation.coefficients, first)


def test_threads_do_not_change_a_bit(model, bar):
    results = [run(jounce.Simulation(model, threads=threads), bar.poses[:12]) for threads in (1, 2, 0)]
    assert np.array_equal(results[0], results[1])
    assert np.array_equal(results[0], results[2])


def test_a_loaded_model_gives_the_same_bits(model, mesh, bar, tmp_path):
    model.save(tmp_path / "model")
    loaded = jounce.Model.load(str(tmp_path / "model"))
    assert (loaded.frequency, loaded.mode_count, loaded.bone_count, loaded.cluster_count) == (
        model.frequency,
        model.mode_count,
        model.bone_count,
        model.cluster_count,
    )
    first, second = jounce.Simulation(model), jounce.Simulation(loaded)
    assert np.array_equal(run(first, bar.poses[:12]), run(second, bar.poses[:12]))
    assert np.array_equal(first.displacement(), second.displacement())


def test_frequency_is_that_of_the_lowest_mode(model, modes):
    assert model.frequency == pytest.approx(np.sqrt(modes.eigenvalues[0]) / (2 * np.pi), rel=1e-12)


def test_gravity_sags_a_body_without_a_rig_like_a_stone(mesh, material, labels):
    modes = jounce.skinning_modes(mesh, material, 3)
    model = jounce.Model.skinning(mesh, material, modes, labels)
    simulation = jounce.Simulation(model, dt=cases.DT, gravity=(0.0, 0.0, -10.0))
    simulation.reset()
    for _ in range(20):
        simulation.step()
    # Backward Euler: g h^2 (1 + 2 + ... + 20).
    assert np.allclose(simulation.displacement(), [0, 0, -10 * cases.DT**2 * 210], rtol=1e-4, atol=1e-5)


def test_other_threads_run_while_modes_are_computed(mesh, material, rig):
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    started, counted = threading.Event(), []

    def count():
        started.wait()
        counted.append(True)

    worker = threading.Thread(target=count)
    worker.start()
    try:
        started.set()
        jounce.skinning_modes(mesh, material, 30, rig)
        # Had the call kept the lock, the worker could not have run: no switch is due for a long time.
        assert counted
    finally:
        sys.setswitchinterval(before)
        worker.join()


def test_one_simulation_on_two_threads_is_refused_or_in_turn(simulation, bar):
    failures = []

    def work():
        for pose in bar.poses[1:30]:
            try:
                simulation.step(pose)
            except RuntimeError as error:
                failures.append(str(error))

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert set(failures) <= {"Already borrowed", "Already mutably borrowed"}
    assert np.isfinite(simulation.coefficients).all()
