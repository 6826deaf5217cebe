"""Grabbing at reduced cost against the full mesh, and the listed and displayed modes."""

import jounce
import numpy as np
import pytest
from jounce_core.body import built_bodies
from jounce_core.body.attached import AttachedBody
from jounce_core.body.full_space import FineBody
from jounce_core.body.grip import MOST, PATCH, SHARE, Grip, HandleGrip, patch, turn
from jounce_core.body.handle_samples import HandleSamples
from jounce_core.body.loose import LooseBody
from jounce_core.common.task import Runner
from jounce_core.display import modes
from test_built_bodies import SETTINGS, tetrahedron

POINT = 3


@pytest.fixture(scope="module")
def body():
    surface = tetrahedron()
    Runner(built_bodies.build(surface, SETTINGS)).run(float("inf"))
    return built_bodies.CACHE.get(surface.digest(SETTINGS))


@pytest.fixture
def pose():
    pose = np.eye(3, 4)[np.newaxis].copy()
    pose[0, :, 3] = (0.3, -0.2, 0.1)
    return pose


@pytest.fixture
def grip(body):
    return Grip(body, np.ones(1), POINT, tetrahedron().triangles)


def test_the_point_is_where_the_full_mesh_has_it(body, grip, pose):
    coefficients = 0.05 * np.random.default_rng(1).standard_normal((body.model.mode_count, 3, 4))
    u = body.model.displacement(coefficients, body.embedding)[POINT]
    expected = body.embedding.points[POINT] + pose[0, :, 3] + u
    assert np.allclose(grip.position(pose, coefficients), expected, atol=1e-6)


def test_the_generalised_force_is_that_of_the_full_mesh(body, grip):
    force = np.array([1.0, -2.0, 0.5])
    forces = np.zeros((len(body.embedding.points), 3))
    forces[POINT] = force
    assert np.allclose(grip.generalised(force), body.model.reduce_forces(forces, body.embedding))


def test_what_was_learnt_is_pulled_as_well(body, pose):
    rng = np.random.default_rng(2)
    basis = jounce.Basis(rng.standard_normal((5, len(body.mesh.vertices), 3)))
    fine = FineBody(body.reduced(basis), body.embedding)
    grip, coefficients = Grip(fine, np.ones(1), POINT, tetrahedron().triangles), 0.05 * rng.standard_normal(5)
    moved = fine.model.displacement(coefficients, body.embedding)[POINT]
    expected = body.embedding.points[POINT] + pose[0, :, 3] + moved
    assert np.allclose(grip.position(pose, coefficients), expected, atol=1e-6)
    sim = jounce.Simulation(fine.model, damping=0.1)
    sim.reset(pose)
    step = np.array([1e-3, 0.0, 0.0]) / grip.compliance(sim, pose, 1.0)
    sim.step(pose, grip.generalised(step))
    assert 0.0 < (grip.position(pose, sim.coefficients) - grip.position(pose, np.zeros(5)))[0] <= 1.2e-3


def test_where_every_vertex_moves_a_patch_is_pulled_and_moves_on_average(pose):
    points, triangles = subdivided(*jounce.shapes.box((4.0, 1.0, 1.0)), 3)
    body = jounce.Body(points, triangles, np.ones((len(points), 1)), resolution=8, modes=4, clusters=20)
    fine = FineBody(body.full_space(), body.embedding)
    grip = Grip(fine, np.ones(1), 0, triangles)
    held = patch(points, triangles, 0, PATCH * np.linalg.norm(np.ptp(points, axis=0)))
    assert 1 < len(held) <= MOST
    coefficients = 0.01 * np.random.default_rng(3).standard_normal((len(body.mesh.vertices), 3))
    moved = fine.model.displacement(coefficients, body.embedding)[held].mean(axis=0)
    assert np.allclose(grip.position(pose, coefficients), points[0] + pose[0, :, 3] + moved, atol=1e-6)
    force = grip.generalised(np.array([1.0, -2.0, 0.5]))
    assert np.allclose(force.sum(axis=0), [1.0, -2.0, 0.5])


def subdivided(points, triangles, times):
    """A surface with each triangle split into four, some times."""
    for _ in range(times):
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        edges, of = np.unique(edges, axis=0, return_inverse=True)
        middle = len(points) + of.reshape(-1, 3)
        points = np.concatenate([points, points[edges].mean(axis=1)])
        a, b, c = triangles.T
        ab, bc, ca = middle.T
        split = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        triangles = np.concatenate([np.stack(each, axis=1) for each in split])
    return points, triangles


def simulation(body):
    return jounce.Simulation(body.model, substeps=2, damping=0.1)


def test_measuring_the_compliance_leaves_the_simulation_as_it_was(body, grip, pose):
    sim = simulation(body)
    sim.reset(pose)
    before = sim.coefficients.copy()
    compliance = grip.compliance(sim, pose, 1.0)
    assert np.array_equal(sim.coefficients, before) and compliance > 0.0
    sim.step(pose, grip.generalised(np.array([1e-3 / compliance, 0.0, 0.0])))
    moved = np.linalg.norm(grip.position(pose, sim.coefficients) - grip.position(pose, before))
    assert 0.0 < moved <= 1e-3 * 1.2


def test_the_spring_brings_the_point_towards_its_target_and_stays_calm(body, grip, pose):
    sim = simulation(body)
    sim.reset(pose)
    start = grip.position(pose, sim.coefficients)
    target = start + [0.1, 0.0, 0.05]
    compliance = grip.compliance(sim, pose, 1.0)
    gaps = []
    for _ in range(60):
        sim.step(pose, grip.spring(target, pose, sim.coefficients, compliance))
        gaps.append(np.linalg.norm(target - grip.position(pose, sim.coefficients)))
    assert gaps[-1] < np.linalg.norm(target - start) / (1.0 + SHARE) and max(gaps) < 0.2
    assert np.allclose(gaps[-1], gaps[-5], rtol=0.05), "it does not come to rest"


def test_frequencies_are_multiples_of_the_lowest_that_deforms(body):
    ratios = modes.frequency_ratios(body)
    own = np.sqrt(body.modes.eigenvalues) / (2.0 * np.pi)
    assert np.allclose(ratios * body.model.frequency, own) and (np.diff(ratios) >= 0.0).all()


def test_a_swing_goes_to_both_sides_as_far_as_the_weights_say():
    weights, side = np.array([[1.0], [-0.5], [0.0]]), np.array([0.0, 1.0, 0.0])
    there = modes.swing(weights * side, 2.0, 1.0)
    assert there.dtype == np.float32 and np.allclose(there[:, 1:2], 2.0 * modes.REACH * weights)
    assert np.allclose(modes.swing(weights * side, 2.0, -1.0), -there)
    assert [modes.shown_rate(ratio) for ratio in (1.0, 2.0, 50.0)] == [1.0, 2.0, modes.FASTEST]


def loose():
    surface = tetrahedron()
    mesh = jounce.TetMesh.lattice(surface.points, surface.triangles, 6)
    material = jounce.Material(1e4, 0.0, 1000.0, "arap")
    model = jounce.Model.projective(mesh, material, handles=8, clusters=8)
    rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
    return LooseBody(mesh, jounce.Embedding(mesh, surface.points), rig, model)


def attached():
    """A sheet on two bones, held at one side."""
    steps = np.linspace(0.0, 1.0, 6)
    points = np.array([(x, y, 0.0) for y in steps for x in steps])
    corners = [6 * row + column for row in range(5) for column in range(5)]
    triangles = [t for c in corners for t in ((c, c + 1, c + 6), (c + 1, c + 7, c + 6))]
    mesh = jounce.SurfaceMesh(points, np.array(triangles, np.uint32))
    weights = np.column_stack([points[:, 0], 1.0 - points[:, 0]])
    model = jounce.Model.projective(
        mesh,
        jounce.Material(1e5, 0.0, 300.0, "arap"),
        thickness=1e-3,
        handles=9,
        rig=jounce.Rig(mesh, weights),
        attached=(points[:, 0] == 0.0).astype(float),
    )
    return AttachedBody(mesh, weights, model)


@pytest.mark.parametrize("make", [loose, attached])
def test_a_point_of_a_body_of_handles_is_drawn_to_the_pointer_and_rests_there(make):
    body = make()
    points = body.embedding.points
    sim = jounce.Simulation(body.model, substeps=2, damping=0.1)
    rest = np.tile(np.eye(3, 4), (1 if make is loose else 2, 1, 1))
    sim.reset(rest)
    triangles = tetrahedron().triangles if make is loose else body.mesh.triangles
    grip = HandleGrip(body, triangles, POINT, 0.15, sim.coefficients)
    target = points[POINT] + [0.0, 0.05, 0.3]
    for _ in range(96):
        sim.step(rest, pull=grip.pull(target, sim.coefficients))
        u = body.model.displacement(sim.coefficients, body.embedding if make is loose else None)
        assert np.allclose(grip.position(rest, sim.coefficients), points[POINT] + u[POINT], atol=1e-6)
    slack = 0.02 if make is loose else 0.15
    assert np.linalg.norm(grip.position(rest, sim.coefficients) - target) < slack


def grid(count, gap=0.1):
    """Points and triangles of a flat square."""
    steps = gap * np.arange(count)
    points = np.array([(x, y, 0.0) for y in steps for x in steps])
    corners = [count * row + column for row in range(count - 1) for column in range(count - 1)]
    return points, np.array(
        [t for c in corners for t in ((c, c + 1, c + count), (c + 1, c + count + 1, c + count))]
    )


def test_a_patch_is_spread_over_what_is_joined_to_its_middle():
    points, triangles = grid(21)
    # A second sheet close behind the first, as of a thin ear.
    both = np.concatenate([points, points + [0.0, 0.0, 0.01]])
    held = patch(both, np.concatenate([triangles, triangles + len(points)]), 220, 0.45)
    apart = np.linalg.norm(both[held] - both[220], axis=1)
    assert held[0] == 220
    assert len(held) == len(set(held)) == MOST and max(held) < len(points)
    assert (apart < 0.45).all() and apart.max() > 0.35
    between = np.linalg.norm(both[held][:, None] - both[held], axis=2) + np.eye(MOST)
    assert between.min() > 0.14
    assert patch(points, triangles, 220, 1e-3) == [220]


@pytest.mark.parametrize("flat", [0.0, 1.0])
def test_a_patch_turns_as_its_points_do(flat):
    generator = np.random.default_rng(3)
    before = generator.standard_normal((9, 3)) * [1.0, 1.0, flat]
    axis = np.array([1.0, 2.0, -2.0]) / 3.0
    cross = np.cross(np.eye(3), axis)
    expected = np.eye(3) + np.sin(2.5) * cross + (1.0 - np.cos(2.5)) * cross @ cross
    found = turn(before, before @ expected.T + [4.0, 5.0, 6.0])
    assert np.allclose(found, expected)
    one = turn(np.zeros((1, 3)), np.ones((1, 3)))
    assert np.allclose(one @ one.T, np.eye(3)) and np.linalg.det(one) > 0.0


def stretched_most(radius):
    """Largest relative length of an edge in a jelly held by a patch of its points."""
    points, triangles = grid(9, 0.03)
    points += [0.1, 0.1, 0.1]
    surface = tetrahedron()
    mesh = jounce.TetMesh.lattice(surface.points, surface.triangles, 8)
    soft = jounce.Material(2e4, 0.0, 1000.0, "arap")
    model = jounce.Model.projective(mesh, soft, handles=20, clusters=60)
    rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
    body = LooseBody(mesh, jounce.Embedding(mesh, points), rig, model)
    sim = jounce.Simulation(model, substeps=4, damping=0.1, gravity=(0.0, 0.0, -9.81))
    sim.reset()
    grip = HandleGrip(body, triangles, 40, radius, sim.coefficients)
    for _ in range(48):
        sim.step(np.eye(3, 4)[None], pull=grip.pull(points[40], sim.coefficients))
    shown = points + model.displacement(sim.coefficients, body.embedding)
    edges = [np.diff(each[triangles[:, :2]], axis=1)[:, 0] for each in (points, shown)]
    before, after = np.linalg.norm(edges, axis=2)
    return (after / before).max()


def test_what_hangs_by_a_patch_is_not_drawn_to_a_tip():
    assert stretched_most(0.15) - 1.0 < 0.5 * (stretched_most(1e-3) - 1.0)


@pytest.mark.parametrize("make", [loose, attached])
def test_an_even_field_on_parts_of_handles_acts_as_gravity_and_drag_brakes_all_alike(make):
    body = make()
    samples, pull = HandleSamples(body, 4), np.array([0.3, 0.0, -9.81])
    mass = body.model.vertex_mass
    assert len(samples.masses) == 4 and np.isclose(samples.masses.sum(), mass.sum())
    reduced = samples.reduce(samples.masses[:, None] * pull)
    expected = body.model.reduce_forces(mass[:, None] * pull)
    assert np.allclose(reduced, expected, atol=1e-12 * np.abs(expected).max())
    drag = samples.drag(2.0 * samples.masses, 3.0 * samples.masses)
    assert np.allclose(drag.linear, 2.0 * mass) and np.allclose(drag.quadratic, 3.0 * mass)


@pytest.mark.parametrize("make", [loose, attached])
def test_parts_of_handles_are_where_their_rig_has_them(make):
    body = make()
    samples = HandleSamples(body, 4)
    bones = 1 if make is loose else 2
    still = np.tile(np.eye(3, 4), (bones, 1, 1))
    places = body.mesh.vertices if make is loose else body.mesh.points
    mass = body.model.vertex_mass
    whole = samples.masses @ samples.posed(still)
    assert np.allclose(whole, mass @ places)
    moved = still.copy()
    moved[0, :, 3] = (1.0, 2.0, 3.0)
    shift = samples.masses @ (samples.posed(moved) - samples.posed(still))
    first = mass @ (np.ones(len(mass)) if make is loose else body.weights[:, 0])
    assert np.allclose(shift, first * np.array([1.0, 2.0, 3.0]))
