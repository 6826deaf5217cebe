"""Strays and irregular weights in made surfaces."""

import numpy as np
from jounce_core.mesh import shape_checks


def test_only_what_is_far_outside_is_a_stray():
    points = np.random.default_rng(2).normal(size=(500, 3))
    assert len(shape_checks.strays(points)) == 0
    points[[7, 70]] = (80.0, 0.0, 0.0), (0.0, -90.0, 0.0)
    assert shape_checks.strays(points).tolist() == [7, 70]
    long_limbed = np.concatenate((points[100:], np.linspace((0, 0, 0), (0, 0, 9), 100)))
    assert len(shape_checks.strays(long_limbed)) == 0


def test_weights_are_missing_or_do_not_add_up():
    weights = np.array([(0.5, 0.5), (0.0, 0.0), (0.7, 0.7), (1.0, 1e-5)])
    assert shape_checks.without_weight(weights).tolist() == [1]
    assert shape_checks.not_normalised(weights).tolist() == [2]
