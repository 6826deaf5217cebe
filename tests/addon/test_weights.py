"""Weights as used by the Armature modifier."""

import numpy as np
from jounce_core.rig.weights import skinned


def test_rows_are_divided_by_their_sum():
    weights = skinned(np.array([[0.5, 0.5], [2.0, 0.95], [0.011, 0.0]]))
    assert np.allclose(weights, [[0.5, 0.5, 0.0], [2.0 / 2.95, 0.95 / 2.95, 0.0], [1.0, 0.0, 0.0]])
    assert np.allclose(weights.sum(axis=1), 1.0, atol=1e-15)


def test_what_no_bone_moves_stays_with_the_object():
    assert skinned(np.array([[0.0, 0.0], [5e-5, 0.0]])).tolist() == [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0]]


def test_without_bones_all_stays_with_the_object():
    assert skinned(np.empty((2, 0))).tolist() == [[1.0], [1.0]]


def test_a_mask_leaves_the_rest_to_the_object():
    weights = skinned(np.array([[2.0, 2.0], [1.0, 0.0]]), np.array([0.5, 0.0]))
    assert weights.tolist() == [[0.25, 0.25, 0.5], [0.0, 0.0, 1.0]]
