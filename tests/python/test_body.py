"""From a rigged surface to displacements, at once and on a separate thread."""

import gc
import time

import jounce
import numpy as np
import pytest

STAGES = ["lattice", "embedding", "weights", "leak", "modes", "clusters", "forces", "model"]


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


def test_forces_may_be_those_of_a_few_tets(body, box):
    sampled = jounce.Body(*box, resolution=16, modes=6, clusters=30, cubature=40)
    found = jounce.Cubature.train(body.mesh, body.material, body.modes, 40, body.rig)
    assert found.tets.dtype == np.int32
    assert found.weights.shape == found.tets.shape == (sampled.model.cluster_count,)
    assert 20 < len(np.unique(found.tets)) <= 40
    assert found.tets.max() < len(body.mesh.tets)
    assert found.weights.min() > 0
    model = jounce.Model.skinning(body.mesh, body.material, body.modes, body.labels, body.rig, cubature=found)
    poses = np.tile(np.eye(3, 4), (10, 2, 1, 1))
    poses[:, 1, 1, 3] = 0.3 * np.sin(np.arange(10))

    def shot(model):
        simulation = jounce.Simulation(model)
        for pose in poses:
            simulation.step(pose)
        return np.array(simulation.coefficients)

    assert np.array_equal(shot(model), shot(sampled.model))
    assert np.abs(shot(model) - shot(body.model)).max() > 1e-6


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


def incompleteness(body):
    """Largest violation of the modes' constraint against the counted rig, by definition."""
    points, mass = body.mesh.vertices, body.mesh.vertex_volumes
    affine = np.column_stack([points, np.ones(len(points))])
    held = (mass * (1 - body.leak))[:, None] * body.modes.weights
    weights = body.rig.merged(body.merged).weights
    sums = np.einsum("ij,ip,iq,ik->jpqk", weights, affine, affine, held, optimize=True)
    sizes = np.einsum("ij,ip,iq,ik->jpqk", weights, abs(affine), abs(affine), abs(held), optimize=True)
    return np.abs(sums / np.maximum(sizes, 1e-300)).max()


def test_locality_confines_modes_that_stay_complementary(box):
    body = jounce.Body(*box, resolution=16, modes=6, locality=20.0)
    assert incompleteness(body) < 1e-6
    mass = 1000 * body.mesh.vertex_volumes
    gram = body.modes.weights.T @ (mass[:, None] * body.modes.weights)
    assert np.abs(gram - np.eye(6)).max() < 1e-9
    found = jounce.localised_modes(body.mesh, body.material, 6, 20.0, body.rig, body.leak)
    assert np.array_equal(found.modes.weights, body.modes.weights)
    wide = jounce.localised_modes(body.mesh, body.material, 6, 2.0, body.rig, body.leak)
    assert found.supports.shape == (6,)
    assert found.supports.mean() < 0.5 * wide.supports.mean()
    assert 0 < found.span < wide.span <= 1
    assert found.residual < 0.05
    for locality in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="locality: expected a positive number"):
            jounce.Body(*box, resolution=12, modes=4, locality=locality)


def test_localised_modes_feel_stitches_however_they_came(box):
    settings = {"resolution": 12, "modes": 6, "locality": 10.0}
    ends = np.argsort(box[0][:, 2])
    stitches = {"stitches": [[ends[0], ends[-1]]], "stitch_stiffness": np.full(1, 1e4)}
    plain, sewn = jounce.Body(*box, **settings), jounce.Body(*box, **settings, **stitches)
    assert not np.allclose(plain.modes.weights, sewn.modes.weights)
    assert incompleteness(sewn) < 1e-6
    later = jounce.Body(*box, **settings, **stitches, like=plain)
    assert np.array_equal(later.modes.weights, sewn.modes.weights)
    assert np.array_equal(jounce.Body(*box, **settings, like=later).modes.weights, plain.modes.weights)


def test_merged_bones_count_as_one_and_are_followed_as_two(box):
    points, triangles, weights = box
    split = np.column_stack([weights[:, 0], 0.3 * weights[:, 1], 0.7 * weights[:, 1]])
    whole = jounce.Body(points, triangles, weights, resolution=12, modes=4)
    merged = jounce.Body(points, triangles, split, resolution=12, modes=4, merge_into=np.array([0, 1, 1]))
    assert merged.merged.tolist() == [0, 1, 1]
    assert merged.rig.bone_count == merged.model.bone_count == 3
    assert merged.rig.merged(merged.merged).bone_count == 2
    assert np.allclose(merged.modes.eigenvalues, whole.modes.eigenvalues, rtol=1e-9)
    assert incompleteness(merged) < 1e-8


def test_small_bones_fold_into_their_parents(box):
    points, triangles, weights = box
    tiny = np.column_stack([weights[:, 0], 0.998 * weights[:, 1], 0.002 * weights[:, 1]])
    body = jounce.Body(points, triangles, tiny, resolution=12, modes=4, bone_parents=np.array([-1, 0, 1]))
    assert body.merged.tolist() == [0, 1, 1]
    assert incompleteness(body) < 1e-8
    whole = jounce.Body(points, triangles, weights, resolution=12, modes=4, bone_parents=np.array([-1, 0]))
    assert whole.merged.tolist() == [0, 1]


def test_painted_stiffness_changes_by_factors(box):
    points, triangles, weights = box
    young = np.where(points[:, 0] < 2, 1e3, 1e5)
    body = jounce.Body(points, triangles, weights, resolution=16, modes=4, young=young)
    middle = np.abs(body.mesh.vertices[body.mesh.tets].mean(1)[:, 0] - 2) < 0.1
    assert body.material.young.min() > 0.999e3
    assert body.material.young.max() < 1.001e5
    assert 0.5e4 < np.median(body.material.young[middle]) < 2e4
    soft = body.mesh.vertices[:, 0] < 2
    energy = body.modes.weights**2
    assert (energy[soft].sum(0) > 5 * energy[~soft].sum(0)).all()
    uniform = jounce.Body(points, triangles, weights, resolution=16, modes=4, young=np.full(8, 1e3))
    plain = jounce.Body(points, triangles, weights, resolution=16, modes=4, young=1e3)
    assert np.allclose(uniform.modes.eigenvalues, plain.modes.eigenvalues, rtol=1e-9)


def motion(body, strength=1.0, frames=6):
    """Largest displacement at each surface point over a hop of the whole box."""
    simulation = jounce.Simulation(body.model, strength=strength)
    pose = np.tile(np.eye(3, 4), (2, 1, 1))
    simulation.reset(pose)
    moved = np.zeros(len(body.embedding.points))
    for frame in range(frames):
        pose[:, 1, 3] = 0.3 * np.sin(frame)
        simulation.step(pose)
        u = body.model.displacement(simulation.coefficients, body.embedding)
        moved = np.maximum(moved, np.linalg.norm(u, axis=1))
    return moved


def test_painted_strength_scales_what_the_rig_does(box):
    uniform, none, half = (
        motion(jounce.Body(*box, resolution=12, modes=4, strength=np.full(8, s))) for s in (1.0, 0.0, 0.5)
    )
    assert uniform.max() > 1e-3
    assert none.max() < 1e-6
    assert np.allclose(half, motion(jounce.Body(*box, resolution=12, modes=4), strength=0.5), rtol=1e-4)


def test_values_at_points_spread_as_weights_do(body, box):
    points, _, weights = box
    for bone in range(2):
        assert np.allclose(body.spread(weights[:, bone].copy()), body.rig.weights[:, bone], atol=1e-12)
    assert np.allclose(body.spread(np.full(len(points), 0.7)), 0.7)
    with pytest.raises(ValueError, match="values: expected"):
        body.spread(np.ones(len(points) + 1))
    with pytest.raises(ValueError, match="values"):
        body.spread(np.where(np.arange(len(points)) == 2, np.nan, 1.0))


def test_a_body_of_a_corotated_material(box):
    body = jounce.Body(*box, resolution=12, modes=4, law="corotated", poisson=0.4)
    assert motion(body).max() > 1e-3


def test_pinned_points_stay_exactly_where_the_rig_puts_them(box):
    points, triangles, weights = box
    pinned = points[:, 0] < 2
    body = jounce.Body(points, triangles, weights, resolution=16, modes=6, pinned=pinned)
    assert body.pinned.dtype == bool
    assert 0.2 < body.pinned.mean() < 0.8
    assert np.abs(body.modes.weights[body.pinned]).max() == 0
    assert incompleteness(body) < 1e-8
    simulation = jounce.Simulation(body.model)
    pose = np.tile(np.eye(3, 4), (2, 1, 1))
    simulation.reset(pose)
    for frame in range(5):
        pose[:, 1, 3] = 0.3 * np.sin(frame)
        simulation.step(pose)
    moved = body.model.displacement(simulation.coefficients, body.embedding)
    assert np.abs(moved[pinned]).max() == 0
    assert np.abs(moved[~pinned]).max() > 1e-3


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


def test_a_job_that_is_dropped_or_done_leaves_nothing_waiting(box):
    for _ in range(20):
        jounce.BodyJob(*box, resolution=40)
    job = jounce.BodyJob(*box, resolution=4, modes=2)
    result = job.result()
    job.cancel()
    assert job.result().labels.shape == result.labels.shape
    del job
    gc.collect()


def test_a_uniform_field_is_gravity_where_cells_are_cut(box):
    body = jounce.Body(*box, resolution=10, modes=6)
    assert body.mesh.solid.min() < 0.6
    gravity, rest = np.array([0.0, 1.0, -9.81]), np.tile(np.eye(3, 4), (2, 1, 1))
    samples = body.model.force_samples(7)
    heavy = jounce.Simulation(body.model, dt=1 / 24, gravity=tuple(gravity))
    pushed = jounce.Simulation(body.model, dt=1 / 24)
    for _ in range(5):
        heavy.step(rest)
        pushed.step(rest, samples.reduce(samples.masses[:, None] * gravity))
    scale = np.abs(heavy.coefficients).max()
    assert scale > 0.0
    assert pushed.coefficients == pytest.approx(heavy.coefficients, abs=1e-6 * scale)
