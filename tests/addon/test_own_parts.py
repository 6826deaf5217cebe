"""Factors of the artist's parts, and the rims of their regions."""

import numpy as np
from jounce_core.mesh.map_shapes import distances, rim
from jounce_core.rig.own_parts import factors
from jounce_core.rig.part_settings import PartRow, acting

SHARES = {"a": np.array([1.0, 0.5, 0.0, 0.0]), "b": np.array([0.0, 1.0, 1.0, 0.0])}


def own(name, **settings):
    return PartRow(name, own=True, **settings)


def test_parts_by_default_ask_for_nothing():
    assert factors([own("a"), own("b"), PartRow("belly", amount=2.0)], SHARES) == (None, None)
    assert factors([own("lost", amount=2.0)], SHARES) == (None, None)


def test_amounts_and_softness_fade_with_the_share_and_multiply():
    strength, stiffness = factors([own("a", amount=3.0, softness=4.0), own("b", amount=0.5)], SHARES)
    assert np.allclose(strength, [3.0, 2.0 * 0.5, 0.5, 1.0])
    assert np.allclose(stiffness, [0.25, 0.5, 1.0, 1.0])


def test_mute_and_solo():
    strength, stiffness = factors([own("a", mute=True, amount=2.0), own("b")], SHARES)
    assert np.allclose(strength, [0.0, 0.5, 1.0, 1.0]) and stiffness is None
    strength, _ = factors([own("a", solo=True, amount=2.0), own("b")], SHARES)
    assert np.allclose(strength, [2.0, 1.5 * 0.5, 0.0, 0.0])
    both, _ = factors([own("a", solo=True), own("b", solo=True)], SHARES)
    assert np.allclose(both, [1.0, 1.0, 1.0, 0.0])


def test_only_found_parts_reach_the_native_module():
    assert acting([own("a", amount=2.0), own("b", solo=True), PartRow("belly")]) == ()


def grid(side):
    """Points and links of a flat square of cells, and of their diagonals."""
    row, column = np.divmod(np.arange(side * side), side)
    points = np.column_stack((row, column, np.zeros(side * side))).astype(float)
    pairs = [(i, j) for i in range(len(points)) for j in range(i) if np.abs(points[i] - points[j]).max() == 1]
    return points, np.array(pairs)


def test_ways_along_a_surface_are_nearly_straight():
    points, links = grid(9)
    inside = (points[:, :2] == 4.0).all(axis=1)
    straight = np.linalg.norm(points - points[inside], axis=1)
    found = distances(points, links, inside, 100.0)
    assert (found >= straight - 1e-12).all() and (found <= 1.09 * straight).all()
    near = distances(points, links, inside, 2.0)
    assert np.array_equal(np.isfinite(near), found <= 2.0)


def test_a_gap_is_not_crossed_and_a_split_vertex_is_one_place():
    points = np.array([(0.0, 0, 0), (1, 0, 0), (1, 0, 0), (2, 0, 0), (2.001, 0, 0)])
    links = np.array([(0, 1), (2, 3)])
    inside = np.array([True, False, False, False, False])
    assert distances(points, links, inside, 10.0).tolist() == [0.0, 1.0, 1.0, 2.0, np.inf]
    assert rim(points, links, inside, 2.0).tolist() == [1.0, 0.5, 0.5, 0.0, 0.0]
    assert rim(points, links, inside, 0.0).tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]
