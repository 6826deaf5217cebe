"""Pairs of stitched points."""

import numpy as np
import pytest
from jounce_core.mesh.stitches import NONE, Stitches, joined, nearest_pairs, pairs_within


def test_nearest_points_are_paired_within_reach_and_once():
    one = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [9, 0, 0]])
    other = np.array([[2.1, 0, 0], [0.0, 0.1, 0], [1.05, 0, 0], [1.2, 0, 0]])
    assert nearest_pairs(one, other, 0.5, 10).tolist() == [[0, 1], [1, 2], [2, 0]]
    assert nearest_pairs(one, other, 0.07, 10).tolist() == [[1, 2]]
    assert nearest_pairs(one, other, 0.5, 2).tolist() == [[0, 1], [2, 0]]
    assert nearest_pairs(one, other[:0], 1.0, 10).shape == (0, 2)


@pytest.mark.parametrize("kind", ["scattered", "grid", "far", "one place"])
def test_nearest_of_many_is_what_all_distances_say(kind):
    # On a grid many points are equally near; the first counts.
    chance = np.random.default_rng(0)
    one, other = chance.normal(size=(700, 3)), chance.normal(size=(500, 3))
    if kind == "grid":
        one, other = np.round(one, 1), np.round(other, 1)
    elif kind == "far":
        other += (50.0, 0.0, 0.0)
    elif kind == "one place":
        one[:] = other[:] = 0.25
    squares = ((one[:, None] - other) ** 2).sum(axis=2)
    nearest, back = squares.argmin(axis=1), squares.argmin(axis=0)
    mutual = np.flatnonzero(back[nearest] == np.arange(len(one)))
    assert np.array_equal(
        nearest_pairs(one, other, np.inf, 1000), np.stack([mutual, nearest[mutual]], axis=1)
    )


def test_points_of_one_mesh_are_paired_nearest_first():
    points = np.array([[0.0, 0, 0], [5, 0, 0], [0.2, 0, 0], [5.5, 0, 0]])
    assert pairs_within(points).tolist() == [[0, 2], [1, 3]]


def seam(stiffness, group=0, radius=0.0, opens=False):
    """A single stitch."""
    return Stitches(
        np.array([[0, 1]]),
        np.array([stiffness]),
        np.array([1.0]),
        np.array([group]),
        np.array([radius]),
        np.array([opens]),
    )


def test_seams_are_joined_and_scaled_with_the_body():
    both = joined([seam(2.0), seam(2.0)])
    assert len(both) == 2 and len(joined([])) == len(NONE) == 0
    assert both.newtons(young=1e4, diagonal=3.0).tolist() == [6e4, 6e4]


def test_modes_know_little_of_what_opens():
    both = joined([seam(2.0), seam(2.0, 1, opens=True), seam(1e-4, 2, opens=True)])
    assert both.known.tolist() == [1.0, 5e-4, 1.0]


def test_a_body_depends_on_groups_and_radii_only_where_they_act():
    plain, grouped = joined([seam(2.0), seam(2.0)]), joined([seam(2.0), seam(2.0, 1)])
    assert len(plain.arrays) == len(grouped.arrays) == len(NONE.arrays) == 3
    assert len(joined([seam(2.0), seam(2.0, radius=0.1)]).arrays) == 4
    opening = joined([seam(2.0), seam(2.0, 1, opens=True)])
    assert [array.tolist() for array in opening.arrays[3:]] == [[0, 1], [False, True]]
