"""Contact points of a body, and their order."""

import numpy as np
from jounce_core.mesh.contact_points import between, far_apart, few, outwardness, skin


def test_the_outer_of_two_layers_is_further_out():
    axis = np.linspace(-1.0, 1.0, 11)
    vertices = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    vertices = vertices[np.linalg.norm(vertices, axis=1) < 1.1]
    around = np.random.default_rng(2).normal(size=(200, 3))
    around /= np.linalg.norm(around, axis=1, keepdims=True)
    outer = outwardness(vertices, 1.03 * around, 0.2)
    assert (outer > outwardness(vertices, around, 0.2)).all()


def test_the_skin_has_all_points_and_says_where_they_are(body):
    weights = np.arange(8.0)[:, None]
    triangles = np.array([[0, 1, 2], [5, 4, 7]])
    made = skin(body, weights, triangles)
    points = np.asarray(body.embedding.points)
    assert np.array_equal(np.asarray(made.embedding.points)[made.places], points)
    assert np.array_equal(made.weights[made.places], weights)
    assert np.array_equal(np.asarray(made.embedding.points)[made.triangles], points[triangles])
    far = outwardness(np.asarray(body.mesh.vertices), points, float(np.cbrt(6.0 * body.mesh.volumes.mean())))
    assert (np.diff(far[np.argsort(made.places)]) <= 0.0).all()


def test_few_points_are_far_apart_and_stand_for_those_near_them():
    points = np.random.default_rng(3).normal(size=(500, 3))
    chosen, nearest = far_apart(points, 40)
    away = np.linalg.norm(points[:, None] - points[chosen], axis=2)
    assert len(set(chosen)) == 40 and np.array_equal(nearest, away.argmin(axis=1))
    apart = np.linalg.norm(points[chosen][:, None] - points[chosen], axis=2)[~np.eye(40, dtype=bool)]
    assert apart.min() >= away.min(axis=1).max()


def test_the_skin_of_a_draft_with_few_points_has_all(body):
    weights = np.arange(8.0)[:, None]
    triangles = np.array([[0, 1, 2], [5, 4, 7]])
    made = few(body, weights, triangles)
    points = np.asarray(body.embedding.points)
    assert np.array_equal(np.asarray(made.embedding.points)[made.places], points)
    assert np.array_equal(made.weights[made.places], weights)
    assert sorted(map(sorted, made.triangles)) == sorted(sorted(made.places[each]) for each in triangles)


def test_points_between_the_corners_of_a_face_are_as_dense_as_asked():
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    triangles = np.array([[0, 1, 2]])
    shares = np.random.default_rng(4).dirichlet(np.ones(3), 500)
    for spacing in (0.3, 0.1):
        points = np.concatenate([corners, between(corners, triangles, spacing)])
        nearest = np.linalg.norm((shares @ corners)[:, None] - points, axis=2).min(axis=1)
        assert nearest.max() < spacing
    assert len(between(corners, triangles, 2.0)) == 0
    assert len(between(corners, triangles)) > 0
