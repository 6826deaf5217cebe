"""Full-space models from Python: any law, stepped like any other model, and their refusals."""

import os
import subprocess
import sys
from pathlib import Path

import cases
import jounce
import numpy as np
import pytest

LAWS = ["arap", "corotated", "neo_hookean", "stvk", "mooney_rivlin", "polynomial"]
GRAVITY = (0.0, 0.0, -2.0)


def material(law):
    return jounce.Material(young=cases.YOUNG, poisson=0.3, density=cases.DENSITY, law=law)


@pytest.fixture(scope="module", params=LAWS)
def law(request):
    return request.param


@pytest.fixture(scope="module")
def full(law, mesh, rig):
    return jounce.Model.full_space(mesh, material(law), rig)


@pytest.fixture(scope="module")
def flesh(mesh, rig):
    """Flesh for tests independent of the law."""
    return jounce.Model.full_space(mesh, material("neo_hookean"), rig)


def walked(model, bar, frames=12, **settings):
    simulation = jounce.Simulation(model, dt=cases.DT, **settings)
    simulation.reset(bar.poses[0])
    for pose in bar.poses[1:frames]:
        simulation.step(pose)
    return simulation


def test_the_bind_pose_held_moves_nothing(full, bar):
    still = np.ascontiguousarray(np.broadcast_to(np.eye(3, 4), bar.poses[0].shape))
    simulation = jounce.Simulation(full)
    for _ in range(10):
        simulation.step(still)
    assert np.abs(simulation.coefficients).max() < 1e-12


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
def test_flesh_moves_stays_finite_and_comes_to_rest(law, full, bar, integrator):
    simulation = walked(full, bar, integrator=integrator, damping=0.1, substeps=2)
    moved = np.abs(simulation.displacement()).max()
    for _ in range(300):
        report = simulation.step(bar.poses[11])
    left = np.abs(simulation.coefficients).max()
    assert np.isfinite([moved, left, report.energy]).all()
    assert moved > 1e-3
    if law != "polynomial":  # It has no stiffness at rest.
        assert left < 0.02 * moved


def test_what_moves_is_complementary_to_the_rig(flesh, mesh, rig, bar):
    simulation = walked(flesh, bar)
    mass = np.zeros(len(mesh.vertices))
    np.add.at(mass, mesh.tets, np.repeat(mesh.volumes[:, None] / 4, 4, 1))
    factor = mass * np.maximum(1 - jounce.momentum_leak(mesh), 1e-6)
    points = np.column_stack([mesh.vertices, np.ones(len(mass))])
    jacobian = (rig.weights[:, :, None] * points[:, None, :]).reshape(len(mass), -1)
    u = simulation.coefficients
    overlap = np.abs(jacobian.T @ (factor[:, None] * u)) / (
        np.abs(jacobian).T @ (factor[:, None] * np.abs(u))
    )
    assert overlap.max() < 1e-8


def test_energy_never_rises_undriven(full, bar):
    simulation = walked(full, bar, tolerance=1e-9, max_iterations=200)
    held = bar.poses[11]
    simulation.cut(held)
    # At rest after a cut, with no later energy above the first.
    energies = [simulation.step(held).energy for _ in range(40)]
    assert energies[0] > 1e-6
    assert max(energies) <= energies[0] * (1 + 1e-9)


def test_newton_and_every_number_of_pairs_reach_the_same_step(full, law, mesh, bar):
    exact = {"tolerance": 1e-13, "max_iterations": 2000, "stiffness": 0.2}
    ends = {
        minimiser: walked(full, bar, frames=4, minimiser=minimiser, **exact).coefficients
        for minimiser in ("newton", 0, 1, 5, 20)
    }
    assert np.abs(ends["newton"]).max() > 1e-3
    size = np.ptp(mesh.vertices, axis=0).max()
    for minimiser, end in ends.items():
        assert np.abs(end - ends["newton"]).max() < 1e-8 * size, (law, minimiser)


def test_newtons_method_needs_the_fewest_iterations_and_more_pairs_fewer(mesh, rig, bar):
    model = jounce.Model.full_space(mesh, material("neo_hookean"), rig)
    counts = []
    for minimiser in ("newton", 20, 5, 0):
        simulation = jounce.Simulation(model, dt=0.2, tolerance=1e-10, max_iterations=2000)
        simulation.reset(bar.poses[0])
        simulation.vary(minimiser=minimiser)
        counts.append(simulation.step(bar.poses[6]).iterations)
    assert counts == sorted(counts) and counts[0] < 0.5 * counts[1] < counts[3]


def test_a_state_replays_bit_for_bit_with_other_pairs(flesh, bar):
    simulation = walked(flesh, bar, minimiser=12)
    state = simulation.save_state()
    further = [(simulation.step(pose), simulation.coefficients)[1] for pose in bar.poses[12:16]]
    stored = jounce.State.from_bytes(state.to_bytes())
    for again in (jounce.Simulation(flesh, dt=cases.DT, minimiser=12), simulation):
        again.restore_state(stored)
        for pose, expected in zip(bar.poses[12:16], further, strict=True):
            again.step(pose)
            assert np.array_equal(again.coefficients, expected)
    simulation.vary(minimiser=2)
    assert simulation.step(bar.poses[16]).converged and simulation.settings["minimiser"] == 2
    simulation.vary(minimiser="newton")
    assert simulation.step(bar.poses[17]).converged and simulation.settings["minimiser"] == "newton"


def test_a_state_replays_bit_for_bit(flesh, bar):
    simulation = walked(flesh, bar)
    state, there = simulation.save_state(), simulation.coefficients
    further = [(simulation.step(pose), simulation.coefficients)[1] for pose in bar.poses[12:18]]
    stored = jounce.State.from_bytes(state.to_bytes())
    for again, known in ((simulation, state), (jounce.Simulation(flesh, dt=cases.DT), stored)):
        again.restore_state(known)
        assert np.array_equal(again.coefficients, there)
        for pose, expected in zip(bar.poses[12:18], further, strict=True):
            again.step(pose)
            assert np.array_equal(again.coefficients, expected)


def test_threads_change_no_bit():
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); import cases, jounce; bar = cases.bar();"
        "mesh = jounce.TetMesh(bar.vertices, bar.tets); rig = jounce.Rig(mesh, bar.weights);"
        "m = jounce.Material(young=cases.YOUNG, poisson=0.3, density=cases.DENSITY, law='stvk');"
        "s = jounce.Simulation(jounce.Model.full_space(mesh, m, rig), dt=cases.DT);"
        "[s.step(p) for p in bar.poses[:8]]; print(s.coefficients.tobytes().hex())"
    )
    golden = str(Path(__file__).resolve().parents[1] / "golden")
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script, golden],
            env={**os.environ, "RAYON_NUM_THREADS": threads},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for threads in ("1", "3")
    }
    assert len(outputs) == 1
    assert len(outputs.pop()) > 1000


def test_pins_follow_the_rig_alone(mesh, rig, bar):
    pinned = mesh.vertices[:, 0] < np.quantile(mesh.vertices[:, 0], 0.3)
    model = jounce.Model.full_space(mesh, material("neo_hookean"), rig, pinned=pinned, complementary=False)
    u = walked(model, bar).coefficients
    assert (u[pinned] == 0).all()
    assert np.abs(u[~pinned]).max() > 1e-3


def test_strength_stiffness_and_forces_are_felt(mesh, rig, bar, flesh):
    assert np.abs(walked(flesh, bar, strength=0.0).coefficients).max() < 1e-10
    none = jounce.Model.full_space(mesh, material("neo_hookean"), rig, strength=np.zeros(len(mesh.vertices)))
    assert np.abs(walked(none, bar).coefficients).max() < 1e-10
    far = np.abs(walked(flesh, bar).coefficients).max()
    assert np.abs(walked(flesh, bar, stiffness=20.0).coefficients).max() < 0.5 * far
    simulation = jounce.Simulation(flesh, dt=cases.DT)
    simulation.reset(bar.poses[0])
    simulation.step(bar.poses[0], force=np.full(flesh.coefficient_shape, 0.01))
    assert np.abs(simulation.coefficients).max() > 0


def test_a_stiffness_map_stiffens_where_it_is_high(mesh, rig, bar):
    middle = mesh.vertices[mesh.tets].mean(1)[:, 0]
    soft = jounce.Material(cases.YOUNG, 0.3, cases.DENSITY, "neo_hookean")
    young = np.where(middle < middle.mean(), 30 * cases.YOUNG, cases.YOUNG)
    mapped = jounce.Material(young, 0.3, cases.DENSITY, "neo_hookean")
    left = mesh.vertices[:, 0] < mesh.vertices[:, 0].mean() / 2
    of = [
        np.abs(walked(jounce.Model.full_space(mesh, m, rig), bar).coefficients[left]).max()
        for m in (soft, mapped)
    ]
    assert of[1] < 0.5 * of[0]


def test_settling_is_where_a_long_fall_ends(flesh, bar):
    simulation = jounce.Simulation(
        flesh, dt=cases.DT, gravity=GRAVITY, damping=1.0, tolerance=1e-9, max_iterations=200
    )
    simulation.reset(bar.poses[0])
    for _ in range(400):
        simulation.step(bar.poses[0])
    fallen = simulation.coefficients
    report = simulation.settle(bar.poses[0], max_iterations=2000)
    assert report.residual <= 1e-9
    assert np.abs(fallen).max() > 1e-4
    assert np.abs(simulation.coefficients - fallen).max() < 1e-4 * np.abs(fallen).max()


def test_a_free_body_settles_where_it_is(mesh):
    model = jounce.Model.full_space(mesh, material("neo_hookean"))
    simulation = jounce.Simulation(model, gravity=GRAVITY)
    simulation.settle()
    assert np.abs(simulation.coefficients).max() < 1e-12
    simulation.step()
    simulation.step()
    assert simulation.coefficients[:, 2].max() < -1e-3


@pytest.mark.parametrize("gap", [0.0, 1.0])
def test_stitches_pull_shut_unless_they_keep_their_gap(mesh, rig, bar, gap):
    far = int(np.argmax(mesh.vertices[:, 2])), int(np.argmin(mesh.vertices[:, 2]))
    stitches = jounce.Stitches(mesh, np.array([far]), stiffness=1e4, gap=gap)
    model = jounce.Model.full_space(mesh, material("corotated"), rig, stitches=stitches)
    simulation = jounce.Simulation(model, dt=cases.DT)
    simulation.settle(bar.poses[0])
    moved = simulation.coefficients
    apart = mesh.vertices[far[0]] - mesh.vertices[far[1]]
    closer = (moved[far[1]] - moved[far[0]]) @ apart
    assert closer > 1e-3 if gap == 0.0 else abs(closer) < 1e-9


def test_offsets_are_those_of_the_vertices(flesh, mesh, bar):
    lifted = np.zeros_like(mesh.vertices)
    simulation = jounce.Simulation(flesh, dt=cases.DT, pose_rest=0.0)
    simulation.reset(bar.poses[0])
    lifted[:, 2] = 0.02 * np.sin(20 * mesh.vertices[:, 0])
    simulation.step(bar.poses[0], offsets=lifted)
    assert np.abs(simulation.coefficients).max() > 1e-4


def test_render_points_hang_in_the_mesh(flesh, mesh, bar):
    simulation = walked(flesh, bar)
    u = simulation.coefficients
    assert u.shape == flesh.coefficient_shape == (len(mesh.vertices), 3)
    assert np.array_equal(simulation.displacement(), u.astype(np.float32))
    embedding = jounce.Embedding(mesh, np.ascontiguousarray(mesh.vertices[mesh.tets].mean(1)))
    expected = embedding.interpolate(u)
    assert np.abs(flesh.displacement(u, embedding) - expected).max() < 1e-6 * np.abs(u).max()
    forces = np.random.default_rng(0).normal(size=expected.shape)
    assert np.isclose((forces * expected).sum(), (flesh.reduce_forces(forces, embedding) * u).sum())


def test_a_job_keeps_the_same_bits(flesh, bar):
    simulation = jounce.Simulation(flesh, dt=cases.DT)
    job = jounce.MotionJob(simulation)
    job.reset(bar.poses[0])
    for pose in bar.poses[1:6]:
        job.step(pose)
        job.keep()
    job.wait()
    simulation.reset(bar.poses[0])
    for frame, pose in enumerate(bar.poses[1:6]):
        simulation.step(pose)
        assert np.array_equal(job.coefficients()[frame], simulation.coefficients)


def test_a_cycle_closes(flesh, bar):
    turns = 0.2 * np.sin(np.linspace(0, 2 * np.pi, 13))
    poses = np.repeat(bar.poses[:1], 13, 0)
    poses[:, -1, 2, 3] += turns
    simulation = jounce.Simulation(flesh, dt=cases.DT, damping=0.2)
    report = simulation.settle_cycle(poses, max_passes=8, tolerance=1e-4)
    start = simulation.coefficients
    for pose in poses[1:]:
        simulation.step(pose)
    assert max(report.position, report.velocity) <= 1e-4
    assert np.abs(simulation.coefficients - start).max() < 1e-2 * np.abs(start).max() + 1e-6


def test_a_body_goes_to_the_full_space(box):
    points, triangles, weights = box
    body = jounce.Body(points, triangles, weights, resolution=6, modes=4, clusters=8)
    for chosen in (None, material("mooney_rivlin")):
        model = body.full_space(chosen)
        assert model.coefficient_shape == (len(body.mesh.vertices), 3)
        simulation = jounce.Simulation(model)
        pose = np.ascontiguousarray(np.broadcast_to(np.eye(3, 4), (2, 3, 4)))
        simulation.step(pose)
        pose = pose.copy()
        pose[1, 2, 3] = 0.3
        simulation.step(pose)
        u = model.displacement(simulation.coefficients, body.embedding)
        assert u.shape == points.shape
        assert np.abs(u).max() > 0


@pytest.mark.parametrize("job", [False, True])
def test_fibres_contract_over_frames_and_come_back(mesh, job):
    law = jounce.Material(young=2e3, poisson=0.45, density=cases.DENSITY, law="neo_hookean")
    along = np.ascontiguousarray(np.broadcast_to([0.0, 0.0, 2.0], (len(mesh.tets), 3)))
    pinned = mesh.vertices[:, 2] < mesh.vertices[:, 2].min() + 0.1
    model = jounce.Model.full_space(mesh, law, pinned=pinned, fibres=jounce.Fibres(1e4, along))
    simulation = jounce.Simulation(model, damping=1.0, contraction=0.1)
    motion = jounce.MotionJob(simulation) if job else simulation
    size = []
    for contraction in [0.4] * 24 + [0.0] * 240:
        motion.vary(contraction=contraction)
        motion.step()
        if job:
            motion.keep()
            u = motion.coefficients(motion.wait() or len(size))[0]
        else:
            u = motion.coefficients
        size.append(np.ptp(mesh.vertices + u, axis=0))
    rest = np.ptp(mesh.vertices, axis=0)
    assert size[23][2] < 0.85 * rest[2]
    assert (size[23][:2] > 1.02 * rest[:2]).all()
    assert np.abs(size[-1] - rest).max() < 1e-3 * rest[2]


def test_a_body_takes_fibres_to_the_full_space(box):
    points, triangles, weights = box
    body = jounce.Body(points, triangles, weights, resolution=6, modes=4, clusters=8)
    along = np.ascontiguousarray(np.broadcast_to([0.0, 0.0, 1.0], (len(body.mesh.tets), 3)))
    fibres = jounce.Fibres(np.full(len(along), 1e5), along)
    still = np.ascontiguousarray(np.broadcast_to(np.eye(3, 4), (2, 3, 4)))
    ends = []
    for model in (body.full_space(fibres=fibres), jounce.FullSpaceJob(body, fibres=fibres).result()):
        simulation = jounce.Simulation(model, contraction=0.3)
        simulation.settle(still)
        ends.append(simulation.coefficients)
    assert np.array_equal(*ends)
    assert np.abs(ends[0]).max() > 1e-3


def two_muscles(mesh):
    """Flesh with a muscle along x in each half."""
    middle = np.asarray(mesh.vertices)[np.asarray(mesh.tets)][:, :, 0].mean(axis=1)
    near = middle < np.median(middle)
    along = np.tile([1.0, 0.0, 0.0], (len(middle), 1))
    muscles = [jounce.Fibres(2e4 * side.astype(float), along) for side in (near, ~near)]
    return jounce.Model.full_space(mesh, material("arap"), fibres=jounce.Fibres.joined(muscles))


def test_muscles_contract_each_by_itself(mesh):
    model = two_muscles(mesh)
    ends = []
    for contraction in (0.4, np.array([0.4, 0.4]), np.array([0.4, 0.0])):
        simulation = jounce.Simulation(model)
        simulation.vary(contraction=contraction)
        simulation.step()
        ends.append(simulation.coefficients)
    assert np.array_equal(ends[0], ends[1]) and np.abs(ends[0]).max() > 1e-3
    assert np.abs(ends[2] - ends[0]).max() > 1e-3


def test_a_file_gives_the_same_motion(full, bar, tmp_path):
    full.save(tmp_path / "flesh.jounce")
    loaded = jounce.Model.load(tmp_path / "flesh.jounce")
    assert (loaded.coefficient_shape, loaded.frequency) == (full.coefficient_shape, full.frequency)
    ends = [
        walked(model, bar, substeps=2, stretch=0.3, pose_rest=0.5).coefficients for model in (full, loaded)
    ]
    assert np.array_equal(*ends)


def test_muscles_come_back_from_a_file(mesh, tmp_path):
    model = two_muscles(mesh)
    model.save(tmp_path / "muscles.jounce")
    ends = []
    for one in (model, jounce.Model.load(tmp_path / "muscles.jounce")):
        simulation = jounce.Simulation(one)
        simulation.vary(contraction=np.array([0.4, 0.1]))
        simulation.step()
        ends.append(simulation.coefficients)
    assert np.array_equal(*ends) and np.abs(ends[0]).max() > 1e-3


REFUSED = {
    "law: skinning modes know": lambda mesh, modes, labels, **_: jounce.Model.skinning(
        mesh, material("neo_hookean"), modes, labels
    ),
    "force samples: only a model of skinning modes has them": lambda flesh, **_: flesh.force_samples(4),
    "pinned: expected a vertex that moves": lambda mesh, rig, **_: jounce.Model.full_space(
        mesh, material("arap"), rig, pinned=np.ones(len(mesh.vertices), bool)
    ),
    "strength: expected numbers >= 0": lambda mesh, rig, **_: jounce.Model.full_space(
        mesh, material("arap"), rig, strength=np.full(len(mesh.vertices), -1.0)
    ),
    "law: expected": lambda **_: material("rubber"),
    "fibre stiffness: expected": lambda **_: jounce.Fibres(-1.0, np.ones((4, 3))),
    "fibre direction: expected a vector with a length": lambda **_: jounce.Fibres(1.0, np.zeros((4, 3))),
    "fibre direction: expected": lambda mesh, **_: jounce.Model.full_space(
        mesh, material("arap"), fibres=jounce.Fibres(1.0, np.ones((4, 3)))
    ),
    "contraction: expected a number in": lambda flesh, **_: jounce.Simulation(flesh, contraction=2.0),
    "muscles: is empty": lambda **_: jounce.Fibres.joined([]),
    "muscles: expected at most 32": lambda **_: jounce.Fibres.joined(
        33 * [jounce.Fibres(1.0, np.ones((4, 3)))]
    ),
    r"fibre direction: expected shape \(4, 3\)": lambda **_: jounce.Fibres.joined(
        [jounce.Fibres(1.0, np.ones((tets, 3))) for tets in (4, 5)]
    ),
    r"contraction: expected shape \(2,\)": lambda mesh, **_: jounce.Simulation(
        two_muscles(mesh), contraction=np.zeros(3)
    ),
    'minimiser: expected "newton" or a number of pairs': lambda flesh, **_: jounce.Simulation(
        flesh, minimiser="gauss"
    ),
    "minimiser: expected 0 to 100 pairs": lambda flesh, **_: jounce.Simulation(flesh, minimiser=101),
    "minimiser: expected a whole number": lambda flesh, **_: jounce.Simulation(flesh, minimiser=-1),
    "minimiser: only the full space": lambda mesh, modes, labels, **_: jounce.Simulation(
        jounce.Model.skinning(mesh, material("arap"), modes, labels), minimiser=3
    ),
    "minimiser: Newton's method knows no contact": lambda flesh, **_: jounce.Simulation(
        flesh, minimiser="newton", colliders=[jounce.Collider.plane()]
    ),
    "contraction: only full-space flesh with fibres": lambda flesh, **_: jounce.Simulation(
        flesh, contraction=0.2
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_does_not_fit_is_refused_in_one_sentence(sentence, flesh, mesh, rig, modes, labels, tmp_path):
    with pytest.raises(ValueError, match=sentence) as caught:
        REFUSED[sentence](flesh=flesh, mesh=mesh, rig=rig, modes=modes, labels=labels, tmp_path=tmp_path)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_a_refused_step_changes_nothing(flesh, model, bar):
    simulation = walked(flesh, bar)
    before, state = simulation.coefficients, simulation.save_state()
    drag = model.force_samples(4).drag(np.ones(4))
    n = flesh.coefficient_shape[0]
    for arguments in (
        {"pose": None},
        {"pose": np.full_like(bar.poses[0], np.nan)},
        {"pose": bar.poses[3], "force": np.full((n, 3), np.inf)},
        {"pose": bar.poses[3], "force": np.zeros((n + 1, 3))},
        {"pose": bar.poses[3], "offsets": np.zeros((n - 1, 3))},
        {"pose": bar.poses[3], "drag": drag},
    ):
        with pytest.raises(ValueError, match=r"\w+: "):
            simulation.step(**arguments)
        assert np.array_equal(simulation.coefficients, before)
    simulation.step(bar.poses[12])
    after = simulation.coefficients
    simulation.restore_state(state)
    simulation.step(bar.poses[12])
    assert np.array_equal(simulation.coefficients, after)


def drawn(stress):
    """Knots of a curve, including one at rest."""
    stretches = np.linspace(0.2, 3.0, 281).round(9)
    return np.stack([stretches, stress(stretches)], axis=1)


def test_a_drawn_law_is_the_one_that_it_is_drawn_after(mesh, rig, bar):
    poisson = 0.3
    mu, lame = 0.5 / (1.0 + poisson), poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))
    curves = (drawn(lambda x: mu * x), None, drawn(lambda j: (lame * np.log(j) - mu) / j))
    spline = jounce.Material(cases.YOUNG, density=cases.DENSITY, law="spline", curves=curves)
    like = jounce.Material(cases.YOUNG, poisson, cases.DENSITY, "neo_hookean")
    ends = [walked(jounce.Model.full_space(mesh, law, rig), bar).coefficients for law in (spline, like)]
    assert np.abs(ends[1]).max() > 1e-3
    assert np.linalg.norm(ends[0] - ends[1]) < 1e-2 * np.linalg.norm(ends[1])


def test_curves_that_make_no_law_are_refused():
    line = np.array([[0.0, -1.0], [2.0, 1.0]])
    for sentence, named in {
        "curves: only the law": {"law": "arap", "curves": (line, None, None)},
        "law: a drawn law is made from its curves": {"law": "spline"},
        "curves: expected stresses of length": {"law": "spline", "curves": (line + [0.0, 0.5], None, None)},
        "knots: expected stretches that ascend": {"law": "spline", "curves": (line[::-1].copy(), None, None)},
    }.items():
        with pytest.raises(ValueError, match=sentence):
            jounce.Material(**named)
    jounce.Material(law="spline", curves=(line, None, None))


@pytest.mark.parametrize("resolution", [16, 24, 40, 48])
def test_a_thin_body_held_by_its_rig_alone_sways(resolution):
    """A constraint cancels nearly all of the uniform load by which damping is found."""
    points, triangles = jounce.shapes.box((8.0, 1.0, 0.5))
    weights = np.ones((len(points), 1))
    body = jounce.Body(points, triangles, weights, resolution=resolution, modes=4, clusters=20)
    simulation = jounce.Simulation(body.full_space(), dt=1 / 24, damping=0.12, gravity=(0.0, 0.0, -9.81))
    pose = np.eye(3, 4)[None].copy()
    for frame in range(10):
        pose[0, 2, 3] = 0.3 * np.sin(0.4 * frame)
        report = simulation.step(pose)
    assert report.iterations > 0
    assert 0.1 < np.abs(simulation.displacement()).max() < 4.0
