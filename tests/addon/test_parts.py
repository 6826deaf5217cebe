"""Connected points."""

import numpy as np
from jounce_core.mesh import parts

SQUARE = np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (0.0, 1.0, 0.0)])


def count(points, triangles):
    """Number of parts, without lone points."""
    return len(np.unique(parts.labels(points, triangles)[triangles]))


def test_parts_that_touch_are_one():
    points = np.concatenate((SQUARE, SQUARE + (1.0, 0.0, 0.0), SQUARE + (9.0, 0.0, 0.0)))
    quads = np.array([(0, 1, 2), (0, 2, 3)])
    triangles = np.concatenate((quads, quads + 4, quads + 8))
    assert count(points, triangles) == 2
    assert count(points, triangles[:4]) == 1
    assert count(1e-9 * points, triangles) == 2


def test_a_long_strip_is_one_part():
    length = 3000
    points = np.column_stack((np.arange(length), np.arange(length) % 2, np.zeros(length)))
    strip = np.arange(length - 2)[:, None] + np.arange(3)
    assert count(points, np.random.default_rng(0).permutation(strip)) == 1


def test_each_point_knows_its_part_lone_ones_too():
    points = np.concatenate((SQUARE, SQUARE + (1.0, 0.0, 0.0), [(9.0, 0.0, 0.0)]))
    edges = np.array([(0, 1), (1, 2), (2, 3), (5, 6), (6, 7)])
    assert parts.labels(points, edges).tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 1]
    assert parts.labels(points, edges[:3]).tolist() == [0, 0, 0, 0, 0, 1, 2, 0, 3]
    assert parts.labels(points[:0], edges[:0]).tolist() == []
