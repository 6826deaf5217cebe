"""The vertex in the middle of a region."""

import numpy as np
from jounce_core.display.anchors import anchor


def ring(middle, count=12):
    """Points of a circle around a place."""
    angles = np.linspace(0.0, 2.0 * np.pi, count, endpoint=False)
    return np.array(middle) + np.column_stack((np.cos(angles), np.sin(angles), np.zeros(count)))


def test_the_middle_of_one_piece():
    points = np.concatenate((ring((0, 0, 0)), [(0.1, 0, 0)], ring((5, 0, 0))))
    shares = np.where(np.arange(25) < 13, 1.0, 0.0)
    assert anchor(points, shares) == 12


def test_two_pieces_apart_give_a_vertex_of_one():
    points = np.concatenate((ring((-5, 0, 0)), [(-5, 0, 0)], ring((5, 0, 0)), [(5, 0, 0)], [(0, 0, 0)]))
    shares = np.ones(27)
    shares[26] = 0.4
    assert anchor(points, shares) in (12, 25)


def test_weak_shares_do_not_pull_and_nothing_has_none():
    points = np.column_stack((np.arange(10.0), np.zeros(10), np.zeros(10)))
    assert anchor(points, np.array([1.0, 1, 1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])) in (0, 1, 2)
    assert anchor(points, np.zeros(10)) is None
    assert anchor(points, np.eye(10)[7]) == 7
