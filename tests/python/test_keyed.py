"""Motion through keyed shapes from Python: keys are met, steps reproduce the solution, and tracking
returns.
"""

import jounce
import numpy as np
import pytest

COUNT = 8


@pytest.fixture(scope="module")
def model(mesh, material):
    axis = np.ptp(mesh.vertices, axis=0).argmax()
    along = mesh.vertices[:, axis]
    held = along < along.min() + 0.15 * np.ptp(along)
    basis = jounce.linear_modes(mesh, material, 4, pinned=held).bent_basis(COUNT)
    return jounce.Model.reduced(mesh, material, basis)


@pytest.fixture(scope="module")
def size(mesh, material):
    """Amplitude of a displacement of mass one for a motion by the diagonal."""
    return np.linalg.norm(np.ptp(mesh.vertices, axis=0)) * np.sqrt(1000.0 * mesh.volumes.sum())


def started(model):
    return jounce.Simulation(
        model, dt=1.0 / 24.0, substeps=2, damping=0.05, max_iterations=500, tolerance=1e-10
    )


@pytest.fixture
def simulation(model):
    return started(model)


@pytest.fixture(scope="module")
def motion(model, size):
    simulation = started(model)
    shape = 0.1 * size * np.eye(COUNT)[0]
    keys = [jounce.Key.shape(7, shape), jounce.Key.shape(15, -0.5 * shape)]
    return jounce.keyed_motion(simulation, keys, 16)


def test_keys_are_met_and_steps_do_what_was_found(simulation, motion, size):
    assert motion.forces.shape == motion.coefficients.shape == (16, COUNT)
    assert motion.misses.shape == (2,)
    assert motion.misses.max() < 1e-3
    assert motion.coefficients[7, 0] == pytest.approx(0.1 * size, rel=0.02)
    assert motion.residual <= 1e-4
    for force, coefficients in zip(motion.forces, motion.coefficients, strict=True):
        simulation.step(force=force)
        np.testing.assert_allclose(simulation.coefficients, coefficients, atol=1e-5 * size)
    assert repr(motion) == "KeyedMotion(16 frames, 2 keys)"


def test_a_vertex_goes_where_it_is_keyed(simulation, mesh):
    axis = np.ptp(mesh.vertices, axis=0).argmax()
    tip = int(mesh.vertices[:, axis].argmax())
    far = 0.1 * np.linalg.norm(np.ptp(mesh.vertices, axis=0)) * np.eye(3)[axis - 1]
    key = jounce.Key.vertex(9, tip, far.tolist())
    motion = jounce.keyed_motion(simulation, [key], 10)
    for force in motion.forces:
        simulation.step(force=force)
    np.testing.assert_allclose(simulation.displacement()[tip], far, atol=0.02 * np.abs(far).max())
    assert repr(key) == f"Key(vertex {tip}, frame=9, weight=1)"


def test_what_acts_beside_is_known(simulation, model, mesh, size):
    weight = np.zeros_like(mesh.vertices)
    weight[:, 2] = -1e-3
    loads = np.tile(model.reduce_forces(weight), (6, 1))
    motion = jounce.keyed_motion(simulation, [jounce.Key.shape(5, np.zeros(COUNT))], 6, forces=loads)
    for force in loads + motion.forces:
        simulation.step(force=force)
    assert np.abs(simulation.coefficients).max() < 1e-3 * size


def test_a_disturbed_motion_is_led_back(simulation, motion, size):
    tracking = motion.tracking(1e-3)
    assert tracking.gains.shape == (16, COUNT, 2 * COUNT)
    off = []
    for tracked in (False, True):
        simulation.reset()
        for frame in range(16):
            force = tracking.force(frame, simulation.save_state()) if tracked else motion.forces[frame].copy()
            if frame == 1:
                force[0] += 20.0 * size
            simulation.step(force=force)
        off.append(np.linalg.norm(simulation.coefficients - motion.coefficients[-1]))
    assert off[1] < 0.2 * off[0]


def test_what_cannot_be_is_refused(simulation, motion, model):
    shape = jounce.Key.shape(0, np.zeros(COUNT))
    for keys, frames, settings, sentence in [
        ([], 4, {}, "keys"),
        ([shape], 0, {}, "frames"),
        ([jounce.Key.shape(4, np.zeros(COUNT))], 4, {}, "keys"),
        ([jounce.Key.shape(1, np.zeros(3))], 4, {}, "coefficients"),
        ([jounce.Key.shape(1, np.zeros(COUNT), weight=0.0)], 4, {}, "weight"),
        ([jounce.Key.vertex(1, 10**6, [0.0, 0.0, 0.0])], 4, {}, "vertex"),
        ([shape], 10**12, {}, "frames"),
        ([shape], 4, {"effort": -1.0}, "effort"),
        ([shape], 4, {"effort": 1e-320}, "effort"),
        ([shape], 4, {"forces": np.zeros((3, COUNT))}, "forces"),
        ([shape], 4, {"max_iterations": 0}, "max_iterations"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            jounce.keyed_motion(simulation, keys, frames, **settings)
    with pytest.raises(ValueError, match="effort"):
        motion.tracking(0.0)
    tracking = motion.tracking()
    with pytest.raises(ValueError, match="frame"):
        tracking.force(16, simulation.save_state())
    other = jounce.Simulation(model, dt=1.0 / 30.0)
    other.step()
    with pytest.raises(ValueError, match="substeps"):
        tracking.force(1, other.save_state())
