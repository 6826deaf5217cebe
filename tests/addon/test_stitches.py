"""Which points are stitched to which."""

import numpy as np
from jounce_core.stitches import NONE, Stitches, joined, nearest_pairs, pairs_within


def test_nearest_points_are_paired_within_reach_and_once():
    one = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [9, 0, 0]])
    other = np.array([[2.1, 0, 0], [0.0, 0.1, 0], [1.05, 0, 0], [1.2, 0, 0]])
    assert nearest_pairs(one, other, 0.5, 10).tolist() == [[0, 1], [1, 2], [2, 0]]
    assert nearest_pairs(one, other, 0.07, 10).tolist() == [[1, 2]]
    assert nearest_pairs(one, other, 0.5, 2).tolist() == [[0, 1], [2, 0]]
    assert nearest_pairs(one, other[:0], 1.0, 10).shape == (0, 2)


def test_points_of_one_mesh_are_paired_nearest_first():
    points = np.array([[0.0, 0, 0], [5, 0, 0], [0.2, 0, 0], [5.5, 0, 0]])
    assert pairs_within(points).tolist() == [[0, 2], [1, 3]]


def test_seams_are_joined_and_scaled_with_the_body():
    seam = Stitches(np.array([[0, 1]]), np.array([2.0]), np.array([1.0]))
    both = joined([seam, seam])
    assert len(both) == 2 and len(joined([])) == len(NONE) == 0
    assert both.newtons(young=1e4, diagonal=3.0).tolist() == [6e4, 6e4]
