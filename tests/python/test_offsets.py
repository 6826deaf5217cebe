"""Rigs beyond linear skinning: their difference is reduced and given to a step."""

import jounce
import numpy as np
import pytest
from refusals import NOT_FINITE, poisoned, refused

REST = np.tile(np.eye(3, 4), (2, 1, 1))


def refined(points, triangles):
    """Each triangle split into four at the midpoints of its edges, without shared points."""
    corners = points[triangles]
    middles = (corners + np.roll(corners, -1, axis=1)) / 2
    quarters = [np.stack([corners[:, i], middles[:, i], middles[:, i - 1]], 1) for i in range(3)]
    points = np.concatenate([*quarters, middles]).reshape(-1, 3)
    return points, np.arange(len(points)).reshape(-1, 3)


@pytest.fixture(scope="module")
def fine(box):
    """The box with enough points to resolve the rotation of its two bones, which blend from 1 m to 3 m."""
    points, triangles = box[:2]
    for _ in range(4):
        points, triangles = refined(points, triangles)
    blend = np.clip(points[:, 0] / 2 - 0.5, 0, 1)
    return points, triangles, np.stack([1 - blend, blend], 1)


@pytest.fixture(scope="module")
def body(fine):
    return jounce.Body(*fine, resolution=16, modes=6, clusters=30)


def swung(time):
    """The box's second bone turns about z and rises."""
    angle, pose = 0.8 * np.sin(5 * time), REST.copy()
    pose[1, :2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    pose[:, 2, 3] = 0.1 * np.cos(7 * time)
    return pose


def posed(fine, pose):
    """The points in linear skinning."""
    points, _, weights = fine
    return np.einsum("pj,jcd,pd->pc", weights, pose, np.column_stack([points, np.ones(len(points))]))


def run(body, drives, model=None, **settings):
    """Coefficients of all frames, of a body's modes or another model of the body."""
    simulation = jounce.Simulation(model or body.model, tolerance=1e-10, **settings)
    pose, offsets = next(drives)
    simulation.reset(pose, offsets)
    frames = []
    for pose, offsets in drives:
        simulation.step(pose, offsets=offsets)
        frames.append(simulation.coefficients)
    return np.array(frames)


@pytest.mark.parametrize("settings", [{}, {"substeps": 2, "integrator": "bdf2"}, {"pose_rest": 0.0}])
def test_a_linear_rig_given_as_offsets_is_the_linear_rig(body, fine, settings):
    poses = [swung(frame / 24) for frame in range(25)]
    twins = ((REST, body.reduce_offsets(posed(fine, pose) - fine[0])) for pose in poses)
    linear = run(body, ((pose, None) for pose in poses), **settings)
    assert np.abs(linear).max() > 1e-2
    assert np.abs(run(body, twins, **settings) - linear).max() < 1e-6 * np.abs(linear).max()


def test_at_vertices_a_linear_rig_given_as_offsets_is_the_linear_rig(body, fine):
    model = body.full_space()
    poses = [swung(frame / 24) for frame in range(13)]
    twins = ((REST, body.vertex_offsets(posed(fine, pose) - fine[0])) for pose in poses)
    linear = run(body, ((pose, None) for pose in poses), model, max_iterations=100)
    assert np.abs(linear).max() > 1e-2
    assert np.abs(run(body, twins, model, max_iterations=100) - linear).max() < 1e-6 * np.abs(linear).max()


def test_a_shape_that_comes_and_goes_moves_the_flesh(body, fine):
    bulge = np.zeros_like(fine[0])
    bulge[:, 1] = 0.2 * (fine[0][:, 0] == 4) * (fine[0][:, 2] - 0.5)
    drives = ((REST, body.reduce_offsets(np.sin(frame) * bulge)) for frame in range(10))
    assert np.abs(run(body, drives)).max() > 1e-4
    held = ((REST, body.reduce_offsets(bulge)) for _ in range(5))
    assert np.abs(run(body, held)).max() < 1e-9


def test_a_state_with_offsets_replays(body, fine):
    simulation = jounce.Simulation(body.model)
    offsets = [body.reduce_offsets(0.05 * np.sin(frame) * fine[0] ** 2) for frame in range(6)]
    for frame in range(3):
        simulation.step(REST, offsets=offsets[frame])
    state, ends = simulation.save_state(), []
    for _ in range(2):
        simulation.restore_state(state)
        for frame in range(3, 6):
            simulation.step(REST, None, offsets[frame])
        ends.append(simulation.coefficients)
    assert np.array_equal(*ends)
    simulation.settle(REST, offsets=offsets[3])
    assert np.abs(simulation.displacement()).max() < 1e-9


def test_offsets_that_do_not_fit_are_refused(body, fine):
    count = len(fine[0])
    for act in (body.reduce_offsets, body.vertex_offsets):
        refused(ValueError, f"offsets: expected shape ({count}, 3)", act, np.zeros((count, 2)))
        refused(TypeError, "offsets: expected dtype float64", act, np.zeros((count, 3), complex))
        refused(ValueError, NOT_FINITE, act, poisoned(np.zeros((count, 3))))
    simulation = jounce.Simulation(body.model)
    simulation.reset(REST)
    good = body.reduce_offsets(np.zeros((count, 3)))
    for act in (simulation.step, simulation.reset, simulation.settle):
        refused(ValueError, "offsets: expected", act, REST, offsets=good[:-1])
        refused(ValueError, NOT_FINITE, act, REST, offsets=poisoned(good))
    assert np.abs(simulation.coefficients).max() == 0


def shapes_of(points):
    """A bulge of the far end and a bend, (2, p, 3)."""
    bulge, bend = np.zeros((2, len(points), 3))
    bulge[:, 1:] = (points[:, 1:] - 0.5) * np.clip(points[:, :1] - 2, 0, None)
    bend[:, 2] = np.sin(points[:, 0])
    return np.stack([bulge, bend])


def test_modes_are_complementary_to_shapes(mesh, material, rig):
    shapes = shapes_of(mesh.vertices)
    modes = jounce.skinning_modes(mesh, material, 6, rig.with_shapes(shapes))
    free = jounce.skinning_modes(mesh, material, 6, rig)
    mass = 1000 * np.bincount(mesh.tets.ravel(), np.repeat(mesh.volumes / 4, 4))
    kept = mass * (1 - jounce.momentum_leak(mesh))
    places = np.column_stack([mesh.vertices, np.ones(len(kept))])

    def overlap(weights):
        made = np.einsum("i,ik,ic,sir->skcr", kept, weights, places, shapes)
        size = np.einsum("i,ik,ic,sir->skcr", kept, *map(np.abs, (weights, places, shapes)))
        return np.abs(made / np.maximum(size, 1e-300)).max()

    assert overlap(modes.weights) < 1e-8
    assert overlap(free.weights) > 1e-4
    refused(ValueError, f"shapes: expected shape (s, {len(mass)}, 3)", rig.with_shapes, shapes[:, 1:])
    refused(ValueError, NOT_FINITE, rig.with_shapes, poisoned(shapes))


def test_a_body_knows_the_shapes_of_its_surface(fine, body):
    shapes = shapes_of(fine[0])
    settings = {"resolution": 16, "modes": 6, "clusters": 30}
    shaped = jounce.Body(*fine, shapes=shapes, **settings)
    assert (shaped.modes.eigenvalues >= body.modes.eigenvalues * (1 - 1e-9)).all()
    assert shaped.modes.eigenvalues[0] > 1.01 * body.modes.eigenvalues[0]
    none = jounce.Body(*fine, shapes=shapes[:0], **settings)
    assert np.array_equal(none.modes.weights, body.modes.weights)
    expected = f"shapes: expected shape (s, {len(fine[0])}, 3)"
    refused(ValueError, expected, jounce.Body, *fine, shapes=shapes[0])
    refused(ValueError, NOT_FINITE, jounce.Body, *fine, shapes=poisoned(shapes))
