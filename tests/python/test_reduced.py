"""Reduced models from Python: learnt from a shot, stepped like any other model, and their refusals."""

import cases
import jounce
import numpy as np
import pytest

COUNT = 24


def material():
    return jounce.Material(young=cases.YOUNG, poisson=0.3, density=cases.DENSITY, law="neo_hookean")


def played(model, bar, **settings):
    simulation = jounce.Simulation(model, dt=cases.DT, max_iterations=200, tolerance=1e-8, **settings)
    simulation.reset(bar.poses[0])
    found = [np.array(simulation.displacement(), float)]
    for pose in bar.poses[1:]:
        simulation.step(pose)
        found.append(np.array(simulation.displacement(), float))
    return np.array(found)


@pytest.fixture(scope="module")
def full(mesh, rig):
    return jounce.Model.full_space(mesh, material(), rig)


@pytest.fixture(scope="module")
def shot(full, bar):
    return played(full, bar)


@pytest.fixture(scope="module")
def whole(mesh, rig, full, shot):
    """All tets."""
    basis = jounce.mass_pca(mesh, material(), shot, COUNT)
    return jounce.Model.reduced(mesh, material(), basis, rig, frequency=full.frequency)


@pytest.fixture(scope="module")
def cubature(whole, shot, bar):
    return jounce.Cubature.of_shot(whole, whole.nearest(shot), np.array(bar.poses), 3 * COUNT)


def test_what_is_learnt_comes_near_the_full_space(whole, cubature, shot, bar):
    sampled = whole.sampled(cubature)
    assert whole.coefficient_shape == sampled.coefficient_shape == (COUNT,)
    assert sampled.cluster_count == len(cubature.tets) <= 3 * COUNT
    assert repr(sampled) == f"Model({COUNT} displacements, {whole.bone_count} bones, {whole.material!r})"
    for model, most in ((whole, 0.02), (sampled, 0.06)):
        found = played(model, bar)
        error = np.linalg.norm(found - shot) / np.linalg.norm(shot)
        assert error < most


def test_a_cubature_given_at_once_is_the_same(mesh, rig, full, whole, cubature, shot, bar):
    basis = jounce.mass_pca(mesh, material(), shot, COUNT)
    model = jounce.Model.reduced(mesh, material(), basis, rig, None, cubature, full.frequency)
    np.testing.assert_array_equal(played(model, bar), played(whole.sampled(cubature), bar))


def test_stiffness_damping_and_gravity_are_live(whole, cubature, full, bar):
    sampled = whole.sampled(cubature)
    still = [played(sampled, bar)]
    for settings in ({"stiffness": 2.0}, {"damping": 0.3}, {"gravity": (0.0, 0.0, -3.0)}):
        right, found = played(full, bar, **settings), played(sampled, bar, **settings)
        assert np.linalg.norm(found - right) < 0.25 * np.linalg.norm(right)
        assert all(np.linalg.norm(found - other) > 0.02 * np.linalg.norm(right) for other in still)
        still.append(found)


def test_what_is_learnt_at_a_wall_stops_there(full, mesh, rig, bar, shot):
    rest = np.asarray(mesh.vertices)
    places = np.array([rig.posed(rest, pose) for pose in bar.poses])
    # The upper end swings into a wall.
    wall = 0.5 * (rest[:, 0].max() + (places + shot)[..., 0].max())
    skin = np.unique(mesh.boundary)
    skin = skin[rest[skin, 2] > 0.2]
    around = {
        "colliders": [jounce.Collider.plane((wall, 0.0, 0.0), (-1.0, 0.0, 0.0))],
        "contact_points": jounce.Embedding(mesh, rest[skin]),
        "contact_weights": np.asarray(bar.weights)[skin],
    }
    stopped = played(full, bar, **around)
    basis = jounce.mass_pca(mesh, material(), stopped, 4 * COUNT)
    model = jounce.Model.reduced(mesh, material(), basis, rig, frequency=full.frequency)
    found = played(model, bar, **around)
    assert (places + shot)[:, skin, 0].max() - wall > 0.1
    assert (places + found)[:, skin, 0].max() - wall < 1e-4
    assert np.linalg.norm(found - stopped) < 0.02 * np.linalg.norm(stopped)


def test_the_nearest_coefficients_are_those_of_a_displacement(whole):
    coefficients = np.random.default_rng(3).normal(size=(4, COUNT))
    shapes = [whole.displacement(row) for row in np.eye(COUNT)]
    moved = np.einsum("fr,rni->fni", coefficients, np.array(shapes, float))
    np.testing.assert_allclose(whole.nearest(moved), coefficients, atol=1e-5)


def test_a_state_replays(whole, cubature, bar):
    simulation = jounce.Simulation(whole.sampled(cubature), dt=cases.DT)
    for pose in bar.poses[:6]:
        simulation.step(pose)
    state = jounce.State.from_bytes(simulation.save_state().to_bytes())
    after = [simulation.step(pose).energy for pose in bar.poses[6:12]]
    simulation.restore_state(state)
    assert [simulation.step(pose).energy for pose in bar.poses[6:12]] == after


@pytest.fixture(scope="module")
def body(box):
    return jounce.Body(*box, resolution=8, modes=4, clusters=10)


def test_a_body_learns_and_a_job_does_the_same(body):
    full = body.full_space()
    poses = np.tile(np.eye(3, 4), (10, 2, 1, 1))
    poses[:, 1, 2, 3] = 0.3 * np.sin(np.arange(10))
    simulation = jounce.Simulation(full)
    shot = []
    for pose in poses:
        simulation.step(pose)
        shot.append(np.array(simulation.coefficients))
    model = body.learn(np.array(shot), poses, 6, frequency=full.frequency)
    kept = len(jounce.mass_pca(body.mesh, body.material, np.array(shot), 6, 1 - 1e-5).shapes)
    assert model.coefficient_shape == (kept,)
    assert 1 < kept < 6
    assert model.cluster_count <= 18
    assert model.frequency == full.frequency
    job = jounce.LearnJob(body, np.array(shot), poses, 6, frequency=full.frequency)
    again = job.result()
    assert (job.done, job.stage, job.progress) == (True, "forces", 1.0)
    simulations = [jounce.Simulation(model) for model in (model, again)]
    for pose in poses:
        for simulation in simulations:
            simulation.step(pose)
        np.testing.assert_array_equal(*(simulation.coefficients for simulation in simulations))


def test_limits_that_a_shot_felt_hold_what_was_learnt(mesh, full, bar, rig):
    limits = {"limit": 0.02, "stretch": 0.05}
    shot = played(full, bar, **limits)
    basis = jounce.mass_pca(mesh, material(), shot, COUNT)
    whole = jounce.Model.reduced(mesh, material(), basis, rig, frequency=full.frequency)
    samples = jounce.LimitSamples.of_shot(
        whole, whole.nearest(shot), np.array(bar.poses), tets=60, vertices=20, **limits
    )
    assert 0 < len(samples.tets) == len(samples.tet_weights) <= 60
    assert 0 < len(samples.vertices) == len(samples.vertex_weights) <= 20
    assert repr(samples) == f"LimitSamples({len(samples.tets)} tets, {len(samples.vertices)} vertices)"
    assert whole.limit_samples is full.limit_samples is None
    parts = samples.tets, samples.tet_weights, samples.vertices, samples.vertex_weights
    model = whole.limited(jounce.LimitSamples(*parts))
    np.testing.assert_array_equal(model.limit_samples.tets, samples.tets)

    def error(found):
        return np.linalg.norm(found - shot) / np.linalg.norm(shot)

    assert error(played(model, bar, **limits)) < 0.1 < 0.5 * error(played(model, bar))


def test_what_was_learnt_is_kept_and_made_again(body):
    poses = np.tile(np.eye(3, 4), (10, 2, 1, 1))
    poses[:, 1, 2, 3] = 0.3 * np.sin(np.arange(10))
    full = body.full_space()
    simulation = jounce.Simulation(full)
    shot = []
    for pose in poses:
        simulation.step(pose)
        shot.append(np.array(simulation.coefficients))
    model = body.learn(np.array(shot), poses, 6, frequency=full.frequency, limit=0.01, stretch=0.01)
    assert len(model.basis.singular_values) >= len(model.basis.shapes) == model.coefficient_shape[0]
    tets, weights = model.cubature.tets, model.cubature.weights
    assert full.basis is full.cubature is None
    again = body.reduced(
        jounce.Basis(model.basis.shapes),
        jounce.Cubature(tets, weights),
        frequency=full.frequency,
        limits=model.limit_samples,
    )
    simulations = [jounce.Simulation(each, limit=0.01, stretch=0.01) for each in (model, again)]
    for pose in poses:
        for simulation in simulations:
            simulation.step(pose)
        np.testing.assert_array_equal(*(simulation.coefficients for simulation in simulations))
    firm = body.reduced(model.basis, model.cubature, material())
    assert firm.frequency != full.frequency


NOTHING = np.zeros(0, np.int32), np.zeros(0)
NO_LIMITS = jounce.LimitSamples(*NOTHING, *NOTHING)
REFUSED = {
    "limit: this reduced model does not know": lambda model, **_: jounce.Simulation(model, limit=0.1),
    "stretch: this reduced model does not": lambda model, **_: jounce.Simulation(model, stretch=0.1),
    "limited: only a reduced model": lambda full, **_: full.limited(NO_LIMITS),
    "limit samples: only a reduced model": lambda full, **_: jounce.LimitSamples.of_shot(
        full, np.ones((1, 1))
    ),
    "limit: expected a positive share": lambda model, shot, bar, **_: jounce.LimitSamples.of_shot(
        model, model.nearest(shot), np.array(bar.poses), limit=0.0
    ),
    "vertex_weights: expected shape": lambda **_: jounce.LimitSamples(*NOTHING, np.arange(3), np.ones(2)),
    "vertices: element 0 refers to index 1000000": lambda model, **_: model.limited(
        jounce.LimitSamples(*NOTHING, np.array([1000000]), np.ones(1))
    ),
    "contact_weights: the model knows no bones at the points": lambda model, **_: jounce.Simulation(
        model, colliders=[jounce.Collider.plane()]
    ),
    "force samples: only a model of skinning modes": lambda model, **_: model.force_samples(3),
    "save: models of skinning modes and of the full space have files": lambda model, tmp_path, **_: (
        model.save(tmp_path / "m")
    ),
    "cubature: its forces are found at some tets already": lambda model, cubature, **_: model.sampled(
        cubature
    ).sampled(cubature),
    "sampled: only a reduced model": lambda full, cubature, **_: full.sampled(cubature),
    "nearest: only a reduced model": lambda full, shot, **_: full.nearest(shot),
    "cubature: only a reduced model": lambda full, **_: jounce.Cubature.of_shot(full, np.ones((1, 1))),
    "poses: ": lambda model, **_: jounce.Cubature.of_shot(model, np.ones((3, COUNT)), np.zeros((2, 1, 3, 4))),
    "weights: expected shape": lambda **_: jounce.Cubature(np.arange(3), np.ones(2)),
    "tets: element 0 refers to index -1": lambda **_: jounce.Cubature(np.array([-1]), np.ones(1)),
    "frequency: expected a positive number, got 0": lambda mesh, **_: jounce.Model.reduced(
        mesh, material(), jounce.Basis(np.ones((1, len(mesh.vertices), 3))), frequency=0.0
    ),
    "offsets: this method follows linear skinning alone": lambda model, bar, mesh, **_: jounce.Simulation(
        model
    ).step(bar.poses[0], offsets=np.zeros((len(mesh.vertices), 3))),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_it_cannot_do_is_refused(sentence, whole, cubature, full, shot, mesh, bar, tmp_path):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        REFUSED[sentence](
            model=whole, cubature=cubature, full=full, shot=shot, mesh=mesh, bar=bar, tmp_path=tmp_path
        )


def test_polynomials_fall_as_all_tets_do_and_ask_for_their_law(mesh):
    def basis_and(law):
        flesh = jounce.Material(young=cases.YOUNG, poisson=0.3, density=cases.DENSITY, law=law)
        pinned = mesh.vertices[:, 0] < mesh.vertices[:, 0].min() + 1e-6
        return flesh, jounce.linear_modes(mesh, flesh, 8, pinned=pinned).bent_basis(12)

    flesh, basis = basis_and("stvk")
    ends = []
    for cubic in (False, True):
        model = jounce.Model.reduced(mesh, flesh, basis, cubic=cubic)
        simulation = jounce.Simulation(
            model, dt=cases.DT, gravity=(0, 0, -0.05), max_iterations=100, tolerance=1e-9
        )
        for _ in range(12):
            simulation.step()
        ends.append(np.array(simulation.displacement(), float))
    assert np.abs(ends[0]).max() > 0
    # The barrier, which is not polynomial, has hardly any effect in such small motion.
    assert np.abs(ends[1] - ends[0]).max() < 1e-3 * np.abs(ends[0]).max()
    with pytest.raises(ValueError, match='only the law "stvk" has forces that are cubic polynomials'):
        jounce.Model.reduced(mesh, *basis_and("corotated"), cubic=True)
