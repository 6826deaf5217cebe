"""Simulations from Python: rest, replay, files; other threads run meanwhile, one at a time."""

import inspect
import re
import sys
import threading

import cases
import jounce
import numpy as np
import pytest
from signals import Interrupted, signal_soon


def run(simulation, poses):
    simulation.reset(poses[0])
    frames = []
    for pose in poses[1:]:
        simulation.step(pose)
        frames.append(simulation.coefficients)
    return np.array(frames)


def run_on(simulation, pose, frames):
    """Displacements of a number of further frames in one pose."""
    return np.array([(simulation.step(pose), simulation.displacement())[1] for _ in range(frames)])


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


@pytest.fixture
def slow(model, bar):
    """A simulation with a step of minutes."""
    slow = jounce.Simulation(model, dt=cases.DT, substeps=100_000, max_iterations=100_000, tolerance=0.0)
    slow.reset(bar.poses[0])
    return slow


def long_calls(slow, bar):
    """Calls with a duration of minutes each."""
    return {
        "step": lambda: slow.step(bar.poses[1]),
        "settle_cycle": lambda: slow.settle_cycle(np.concatenate([bar.poses[:3], bar.poses[:1]])),
    }


@pytest.mark.posix
@pytest.mark.parametrize("name", ["step", "settle_cycle"])
def test_ctrl_c_ends_what_takes_long_and_the_state_stays(name, slow, bar):
    slow.cut(bar.poses[2])
    before = slow.coefficients
    with signal_soon(), pytest.raises(Interrupted):
        long_calls(slow, bar)[name]()
    assert np.array_equal(slow.coefficients, before)
    slow.reset(bar.poses[0])


@pytest.mark.posix
def test_a_simulation_that_another_thread_steps_says_so(slow, model, bar):
    samples = model.force_samples(3)
    state = slow.save_state()
    calls = {
        "step": lambda: slow.step(bar.poses[1]),
        "settle": lambda: slow.settle(bar.poses[1]),
        "settle_cycle": lambda: slow.settle_cycle(np.concatenate([bar.poses[:3], bar.poses[:1]])),
        "vary": lambda: slow.vary(damping=0.1),
        "strength": lambda: slow.strength,
        "another strength": lambda: setattr(slow, "strength", 0.5),
        "sample_positions": lambda: slow.sample_positions(samples),
        "displacement": slow.displacement,
        "coefficients": lambda: slow.coefficients,
        "save_state": slow.save_state,
        "restore_state": lambda: slow.restore_state(state),
        "cut": lambda: slow.cut(bar.poses[1]),
        "coast": lambda: slow.coast(bar.poses[1]),
        "reset": lambda: slow.reset(bar.poses[1]),
        "MotionJob": lambda: jounce.MotionJob(slow),
        "step_together": lambda: jounce.step_together([slow], [bar.poses[1]]),
    }
    said = {}

    def call_all():
        for name, call in calls.items():
            try:
                call()
            except (RuntimeError, ValueError) as error:
                said[name] = f"{type(error).__name__}: {error}"

    def call_all_on_a_thread():
        worker = threading.Thread(target=call_all)
        worker.start()
        worker.join()

    with signal_soon(call_all_on_a_thread), pytest.raises(Interrupted):
        slow.step(bar.poses[1])
    sentence = "simulation: another thread is using it; wait for that, or give each thread its own"
    expected = dict.fromkeys(calls, f"RuntimeError: {sentence}")
    expected["step_together"] = "ValueError: simulations: one is in use, or there twice"
    assert said == expected
    assert slow.model is model
    assert slow.strength == 1.0


def test_strength_scales_what_the_flesh_feels(model, mesh, material, modes, labels, rig, bar):
    base = jounce.Simulation(model, dt=cases.DT)
    still = jounce.Simulation(model, dt=cases.DT, strength=0.0)
    assert np.abs(run(still, bar.poses[:10])).max() < 1e-9 * np.abs(run(base, bar.poses[:10])).max()
    assert still.strength == 0.0
    still.strength = 1.0
    assert np.array_equal(run(still, bar.poses[:10]), run(base, bar.poses[:10]))
    ones = np.ones(len(mesh.vertices))
    painted = jounce.Model.skinning(mesh, material, modes, labels, rig, ones)
    assert np.array_equal(
        run(jounce.Simulation(painted, dt=cases.DT), bar.poses[:10]), run(base, bar.poses[:10])
    )
    painted = jounce.Model.skinning(mesh, material, modes, labels, rig, 2 * ones)
    twice = jounce.Simulation(model, dt=cases.DT, strength=2.0)
    assert run(jounce.Simulation(painted, dt=cases.DT), bar.poses[:10]) == pytest.approx(
        run(twice, bar.poses[:10]), abs=1e-9
    )


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
@pytest.mark.parametrize("law", ["arap", "corotated"])
def test_laws_and_integrators_replay(integrator, law, mesh, modes, labels, rig, bar, tmp_path):
    material = jounce.Material(young=cases.YOUNG, poisson=0.4, density=cases.DENSITY, law=law)
    model = jounce.Model.skinning(mesh, material, modes, labels, rig)
    model.save(tmp_path / "model")
    model = jounce.Model.load(tmp_path / "model")
    simulation = jounce.Simulation(model, dt=cases.DT, integrator=integrator)
    run(simulation, bar.poses[:8])
    state, now = simulation.save_state(), simulation.coefficients
    further = []
    for _ in range(2):
        simulation.restore_state(state)
        assert np.array_equal(simulation.coefficients, now)
        simulation.step(bar.poses[8])
        simulation.step(bar.poses[9])
        further.append(simulation.coefficients)
    assert np.array_equal(*further)


def test_less_damped_flesh_moves_longer(model, bar):
    def left(integrator):
        simulation = jounce.Simulation(model, dt=cases.DT, integrator=integrator)
        run(simulation, bar.poses[:20])
        for _ in range(40):
            simulation.step(bar.poses[19])
        return np.abs(run_on(simulation, bar.poses[19], 20)).max()

    assert left("bdf2") > 10.0 * left("backward_euler")


def test_reduced_forces_do_the_same_work(model, modes, mesh):
    rng = np.random.default_rng(1)
    forces, coefficients = rng.normal(size=(735, 3)), rng.normal(size=(6, 3, 4))
    work = (forces * model.displacement(coefficients)).sum()
    assert (model.reduce_forces(forces) * coefficients).sum() == pytest.approx(work, rel=1e-4)
    points = np.column_stack([mesh.vertices, np.ones(735)])
    expected = np.einsum("ik,id,ic->kcd", modes.weights, points, forces)
    assert model.reduce_forces(forces) == pytest.approx(expected, rel=1e-5, abs=1e-5 * np.abs(expected).max())


def test_a_uniform_field_read_at_samples_is_gravity(model, bar):
    gravity = np.array([0.0, 1.0, -9.81])
    samples = model.force_samples(7)
    assert samples.points.shape == (7, 3) and samples.masses.shape == (7,)
    heavy = jounce.Simulation(model, dt=cases.DT, gravity=tuple(gravity))
    pushed = jounce.Simulation(model, dt=cases.DT)
    assert np.array_equal(pushed.sample_positions(samples), samples.points)
    for pose in bar.poses[:10]:
        heavy.step(pose)
        pushed.step(pose, samples.reduce(samples.masses[:, None] * gravity))
    scale = np.abs(heavy.coefficients).max()
    assert pushed.coefficients == pytest.approx(heavy.coefficients, abs=1e-6 * scale)
    assert np.abs(pushed.sample_positions(samples) - samples.points).max() > 1e-3


def test_a_settled_body_stays(model, bar):
    simulation = jounce.Simulation(model, dt=cases.DT, gravity=(0.0, 0.0, -9.81), tolerance=1e-8)
    report = simulation.settle(bar.poses[3])
    assert report.residual <= 1e-8 and report.energy > 0
    settled = simulation.displacement()
    assert np.abs(settled).max() > 1e-4
    for _ in range(10):
        simulation.step(bar.poses[3])
    assert simulation.displacement() == pytest.approx(settled, abs=1e-3 * float(np.abs(settled).max()))


def test_settings_are_read_back(model):
    given = {"dt": 0.02, "substeps": 3, "gravity": (0.0, 0.0, -9.81), "integrator": "bdf2", "stretch": 0.4}
    settings = jounce.Simulation(model, **given).settings
    assert given.items() <= settings.items()
    assert settings["tolerance"] == 1e-6
    assert jounce.Simulation(model, **settings).settings == settings


def test_settings_follow_changes(model):
    simulation = jounce.Simulation(model)
    simulation.vary(stiffness=2.0, gravity=(0.0, 0.0, -1.0))
    simulation.strength = 0.5
    read = simulation.settings
    assert (read["stiffness"], read["gravity"], read["strength"]) == (2.0, (0.0, 0.0, -1.0), 0.5)
    simulation.vary(dt=0.1, limit=0.3, stiffness=None)
    assert simulation.settings == read | {"dt": 0.1, "limit": 0.3}
    simulation.vary(limit=None)
    assert simulation.settings == read | {"dt": 0.1}


def test_the_settings_are_those_that_are_documented(model):
    known = {*jounce.Simulation(model).settings, "contraction", "stitching"}
    text = "\n".join(inspect.cleandoc(kind.__doc__) for kind in (jounce.TreeSettings, jounce.Settings))
    assert set(re.findall(r"^(\w+) : ", text, re.M)) == jounce.Settings.__optional_keys__ == known


def test_a_material_names_its_law():
    jelly = jounce.Material(young=2e4, poisson=0.4, law="neo_hookean")
    assert jelly.law == "neo_hookean"
    assert repr(jelly) == "Material(neo_hookean, young=2e4)"
