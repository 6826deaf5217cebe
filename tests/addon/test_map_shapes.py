"""Values of maps from spheres, edges and other surfaces."""

import numpy as np
from jounce_core.mesh import map_shapes


def test_a_sphere_fades_from_its_centre():
    points = np.array([(1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (1.0, 2.0, 0.0), (1.0, 3.0, 0.0)])
    values = map_shapes.sphere(points, points[0], 2.0)
    assert np.allclose(values, [1.0, 0.5, 0.0, 0.0])
    assert not map_shapes.sphere(points, points[0], 0.0).any()


def test_smoothing_keeps_what_is_even_and_flattens_the_rest():
    edges = np.array([(i, (i + 1) % 20) for i in range(20)])
    even = np.full(21, 0.3)
    assert np.allclose(map_shapes.smoothed(even, edges, 50), even)
    spike = np.eye(21)[4]
    assert np.allclose(map_shapes.smoothed(spike, edges, 1)[[3, 4, 5]], [0.25, 0.5, 0.25])
    assert np.isclose(map_shapes.smoothed(spike, edges, 30).sum(), 1.0)
    alone = np.eye(21)[20]
    assert np.array_equal(map_shapes.smoothed(alone, edges, 9), alone)


def test_boxes_compare_whatever_their_size_and_place():
    points = np.random.default_rng(3).normal(size=(30, 3))
    moved = points * (2.0, 0.5, 9.0) + (1.0, -4.0, 0.0)

    def fractions(places):
        return map_shapes.in_box(places, np.array((places.min(axis=0), places.max(axis=0))))

    assert np.allclose(fractions(points), fractions(moved))
    flat = points * (1.0, 1.0, 0.0)
    assert np.isfinite(fractions(flat)).all()


def test_a_linear_function_is_interpolated_exactly():
    rng = np.random.default_rng(4)
    corners = rng.normal(size=(40, 3, 3))
    shares = rng.dirichlet((1.0, 1.0, 1.0), 40)
    points = np.einsum("pc,pcx->px", shares, corners)
    slope = np.array((0.3, -1.0, 2.0))
    assert np.allclose(map_shapes.interpolated(corners, corners @ slope, points), points @ slope)
    degenerate = np.repeat(corners[:, :1], 3, axis=1)
    assert np.allclose(map_shapes.interpolated(degenerate, np.ones((40, 3)), points), 1.0)
