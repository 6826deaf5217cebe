"""Folds of a shot: places that the rig crushes, and how much stiffer flesh is there."""

import numpy as np
import pytest
from jounce_core.mesh import folds
from jounce_core.mesh.surface import Part, Surface
from jounce_core.shot.tearing import edges_of, folds_in
from jounce_core.stepping.motion import FrameInput


@pytest.fixture
def strip():
    """A strip along x on two bones that meet at 2, with its edges."""
    points = np.array([(x, y, 0.0) for x in range(5) for y in (0.0, 1.0)])
    triangles = np.array([t for i in range(0, 8, 2) for t in ((i, i + 2, i + 1), (i + 1, i + 2, i + 3))])
    upper = (points[:, 0] > 2.0).astype(float)
    surface = Surface(
        points, triangles, np.column_stack((1.0 - upper, upper)), (Part("Strip", slice(0, 10), np.eye(3)),)
    )
    return surface, edges_of(triangles)


def pushed(way):
    """A pose whose second bone moves against the first one."""
    pose = np.tile(np.eye(3, 4), (2, 1, 1))
    pose[1, 0, 3] = -way
    return pose


def test_flesh_is_stiffer_the_more_the_rig_shortens_an_edge(strip):
    surface, edges = strip
    rest, half, tenth = (folds.found(surface, edges, [pushed(way)]) for way in (0.0, 0.5, 0.9))
    assert rest == half == ""
    found = folds.factors(tenth, 10)
    at_fold = np.isin(surface.points[:, 0], (2.0, 3.0))
    # The edges along x have a tenth of their length left. They are long, so flesh beside them is stiffer too.
    assert found[at_fold] == pytest.approx(5.0, rel=0.01)
    beside = np.isin(surface.points[:, 0], (1.0, 4.0))
    assert (found[beside] > 1.0).any() and (found[beside] < 3.0).all()
    assert (found[~(at_fold | beside)] == 1.0).all()


def test_flesh_is_stiffer_where_the_rig_flattens_a_triangle_of_whole_edges():
    """The tip of a flat triangle comes near its longest side, and no edge is shortened to less than half."""
    points = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 0.5, 0.0]])
    own = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    surface = Surface(points, np.array([[0, 1, 2]]), own, (Part("Tip", slice(0, 3), np.eye(3)),))
    edges = edges_of(surface.triangles)
    lowered = np.tile(np.eye(3, 4), (2, 1, 1))
    lowered[1, 1, 3] = -0.2
    assert folds.found(surface, edges, [lowered]) == ""
    lowered[1, 1, 3] = -0.4
    found = folds.factors(folds.found(surface, edges, [lowered]), 3)
    # A fifth of the height is left.
    assert found == pytest.approx(2.5, rel=0.01)
    assert folds.heights(points, surface.triangles) == pytest.approx(0.5)


def test_a_triangle_without_area_has_no_fold():
    points = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [2.0, 0.0, 0.0]])
    assert folds.heights(points, np.array([[0, 1, 2], [1, 1, 1]])).tolist() == [0.0, 0.0]


def test_the_worst_pose_counts_and_no_factor_is_beyond_the_stiffest(strip):
    surface, edges = strip
    poses = [pushed(way) for way in (0.0, 1.0, 0.2)]
    assert folds.factors(folds.found(surface, edges, poses), 10).max() == pytest.approx(
        folds.STIFFEST, rel=0.01
    )


def test_folds_of_another_mesh_are_none(strip):
    surface, edges = strip
    assert folds.factors(folds.found(surface, edges, [pushed(0.9)]), 11) is None
    assert folds.factors("", 10) is None


def test_a_turned_body_has_no_fold(strip):
    surface, edges = strip
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    pose = np.tile(np.column_stack((turn, [3.0, 2.0, 1.0])), (2, 1, 1))
    assert folds.found(surface, edges, [pose]) == ""


@pytest.mark.parametrize("size", [0.3, 1e-3, 0.0])
def test_a_body_that_shrinks_as_a_whole_folds_as_in_its_size(strip, size):
    surface, edges = strip
    small = np.diag([size] * 3)
    assert folds.found(surface, edges, [small @ pushed(0.0)]) == ""
    folded = folds.found(surface, edges, [pushed(0.9)])
    assert folds.found(surface, edges, [small @ pushed(0.9)]) == (folded if size else "")


def test_a_frame_that_flesh_cannot_follow_has_no_fold(strip):
    surface, _ = strip
    held = FrameInput(np.zeros((2, 3, 4)), 0.0, held="Rig is scaled to nothing")
    assert folds_in(surface, [FrameInput(pushed(0.0), 1.0), held]) == ""
    folded = FrameInput(pushed(0.9), 1.0)
    assert folds_in(surface, [folded, held]) == folds_in(surface, [folded]) != ""


def test_flesh_is_firmer_where_few_edges_stretch_most():
    points = np.array([(0.01 * x, 0.0, 0.0) for x in range(101)])
    edges = np.array([(x, x + 1) for x in range(100)])
    strains = np.full(100, 0.2)
    strains[50] = 0.3
    found = folds.factors(folds.firmed("", points, [(edges, strains)], 0.1), 101)
    assert found[[50, 51]] == pytest.approx(1.5**folds.EVENED, rel=0.02)
    assert (np.delete(found, [50, 51]) == 1.0).all()
    # Up to the strain that is allowed, nothing changes; beside the rig's folds, factors multiply.
    assert folds.firmed("", points, [(edges, strains)], 0.3) == ""
    known = folds.firmed("", points, [(edges, strains)], 0.1)
    twice = folds.factors(folds.firmed(known, points, [(edges, strains)], 0.1), 101)
    assert twice[50] == pytest.approx(1.5 ** (2.0 * folds.EVENED), rel=0.04)


def test_where_little_flesh_moves_the_moving_part_keeps_most_of_its_softness():
    points = np.array([(0.01 * x, 0.0, 0.0) for x in range(2001)])
    edges = np.array([(x, x + 1) for x in range(2000)])
    strains = np.where(np.arange(2000) < 30, np.linspace(0.0, 20.0, 2000), 1e-6)
    found = folds.factors(folds.firmed("", points, [(edges, strains)], 1e-6), 2001)
    # From half of the strain that all but two edges keep below.
    assert found.max() < 10.0 and 10 < (found > 1.0).sum() < 20


def test_flesh_around_a_long_side_is_firmer_too():
    points = np.array([(0.01 * x, y, 0.0) for x in range(101) for y in (0.0, 0.005)])
    long = np.array([[100, 120, 101]])
    found = folds.steps_around(points, [(long, np.array([folds.STIFFEST]))])
    assert found[[100, 120, 101]] == pytest.approx(1.0)
    away = np.abs(points[:, 0] - np.clip(points[:, 0], 0.5, 0.6))
    assert (found[away > 0.101] == 0.0).all()
    middle = found[(points[:, 0] > 0.61) & (points[:, 0] < 0.69)]
    assert ((middle > 0.0) & (middle < 1.0)).all()
