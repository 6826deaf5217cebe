"""The whole way from a rigged surface to displacements, at once and on a thread of its own."""

import gc
import time

import jounce
import numpy as np
import pytest

STAGES = ["lattice", "embedding", "weights", "leak", "modes", "clusters", "model"]


@pytest.fixture(scope="module")
def body(box):
    return jounce.Body(*box, resolution=16, modes=6, clusters=30)


def test_parts_fit_together(body, box):
    points, _, weights = box
    n, t = len(body.mesh.vertices), len(body.mesh.tets)
    assert body.embedding.points.shape == points.shape
    assert body.rig.weights.shape == (n, 2)
    assert np.allclose(body.rig.weights.sum(1), 1)
    assert body.leak.shape == (n,)
    assert body.modes.weights.shape == (n, 6)
    assert body.labels.shape == (t,)
    assert body.labels.dtype == np.int32
    assert (body.model.mode_count, body.model.bone_count) == (6, 2)
    assert body.model is body.model
    carried = body.embedding.interpolate(body.rig.weights)
    assert np.abs(carried - weights).max() < 0.15


def test_it_moves(body, box):
    simulation = jounce.Simulation(body.model)
    pose = np.tile(np.eye(3, 4), (2, 1, 1))
    simulation.reset(pose)
    for frame in range(10):
        pose[1, 1, 3] = 0.3 * np.sin(frame)
        simulation.step(pose)
    moved = body.model.displacement(simulation.coefficients, body.embedding)
    assert moved.shape == box[0].shape
    assert 1e-3 < np.abs(moved).max() < 4


def test_leak_is_what_is_kept_of_the_default(box):
    whole = jounce.Body(*box, resolution=12, modes=4, leak=np.ones(8))
    default = jounce.Body(*box, resolution=12, modes=4)
    none = jounce.Body(*box, resolution=12, modes=4, leak=np.zeros(8))
    half = jounce.Body(*box, resolution=12, modes=4, leak=np.full(8, 0.5))
    assert np.allclose(whole.leak, default.leak, atol=1e-12)
    assert np.allclose(half.leak, 0.5 * default.leak, atol=1e-12)
    assert np.abs(none.leak).max() == 0


def test_a_bone_without_vertices_and_scattered_parts(box):
    points, triangles, weights = box
    points = np.vstack([points, points + [0.0, 3.0, 0.0]])
    triangles = np.vstack([triangles, triangles + 8])
    weights = np.vstack([weights, weights])
    weights = np.column_stack([weights, np.zeros(16)])
    body = jounce.Body(points, triangles, weights, resolution=16, modes=6)
    simulation = jounce.Simulation(body.model)
    simulation.reset(np.tile(np.eye(3, 4), (3, 1, 1)))
    simulation.step(np.tile(np.eye(3, 4), (3, 1, 1)))
    assert np.abs(simulation.displacement()).max() < 1e-6


def test_nearly_dependent_constraints_leave_the_modes_exact(box):
    """Two bones in two equal bars with few inner vertices: four of the constraint columns almost depend."""
    points, triangles, weights = box
    both = np.vstack([points, points + [0.0, 3.0, 0.0]]), np.vstack([triangles, triangles + 8])
    few, more = (jounce.Body(*both, np.vstack([weights] * 2), resolution=16, modes=m).modes for m in (6, 8))
    assert np.allclose(few.eigenvalues, more.eigenvalues[:6], rtol=1e-9)


def test_a_job_gives_the_same_body(body, box):
    job = jounce.BodyJob(*box, resolution=16, modes=6, clusters=30)
    seen, fractions = [], []
    while not job.done:
        seen.append(job.stage)
        fractions.append(job.progress)
        time.sleep(0.001)
    result = job.result()
    assert job.progress == 1.0
    assert job.stage == "model"
    order = [STAGES.index(stage) for stage in seen if stage]
    assert order == sorted(order)
    assert all(0 <= fraction <= 1 for fraction in fractions)
    assert np.array_equal(result.modes.weights, body.modes.weights)
    assert np.array_equal(result.labels, body.labels)
    assert np.array_equal(job.result().labels, body.labels)


def test_a_cancelled_job_stops_soon(box):
    job = jounce.BodyJob(*box, resolution=100, modes=60)
    time.sleep(0.05)
    start = time.monotonic()
    job.cancel()
    with pytest.raises(ValueError, match="^cancelled$"):
        job.result()
    assert time.monotonic() - start < 60
    assert job.done


def test_a_job_that_is_dropped_or_done_leaves_nothing_waiting(box):
    for _ in range(20):
        jounce.BodyJob(*box, resolution=40)
    job = jounce.BodyJob(*box, resolution=4, modes=2)
    result = job.result()
    job.cancel()
    assert job.result().labels.shape == result.labels.shape
    del job
    gc.collect()
