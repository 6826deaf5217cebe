"""Muscles: directions of their fibres along bones, and their stiffness."""

import jounce
import numpy as np
import pytest
from jounce_core.body import full_space
from jounce_core.body.muscles import Muscle, Muscles, directions, directions_of_bones, mean_of_corners
from jounce_core.common.task import Runner
from jounce_core.flesh.settings import Flesh, Law
from jounce_core.stepping.motion import FrameInput

AXES = np.eye(3)
POSE = np.eye(3, 4)[np.newaxis]


def turned(degrees):
    angle = np.radians(degrees)
    return np.array([np.cos(angle), np.sin(angle), 0.0])


def direction(weights, *along):
    """The direction of a place from some bones."""
    [found] = directions(np.array([weights], float), np.array(along, float))
    return found


def test_one_bone_gives_its_own_direction_whichever_way_it_points():
    for bone in (*AXES, turned(20.0), turned(-70.0)):
        found = direction([0.3], bone)
        assert np.allclose(np.abs(found @ bone), 1.0) and found[np.abs(found).argmax()] > 0.0
        assert np.array_equal(found, direction([0.3], -bone))


def test_between_bones_it_goes_from_one_to_the_other():
    angles = []
    for share in np.linspace(0.0, 1.0, 11):
        x, y, _ = direction([1.0 - share, share], turned(0.0), turned(60.0))
        angles.append(np.degrees(np.arctan2(y, x)))
    assert np.allclose([angles[0], angles[5], angles[10]], [0.0, 30.0, 60.0])
    assert (np.diff(angles) > 0.0).all()
    # The orientation of a bone from head to tail has no influence.
    assert np.allclose(
        direction([0.5, 0.5], turned(0.0), turned(60.0)), direction([0.5, 0.5], turned(180.0), turned(60.0))
    )


def test_it_is_the_best_one():
    rng = np.random.default_rng(3)
    along = rng.normal(size=(4, 3))
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    weights = rng.dirichlet(np.ones(4), 20)
    others = rng.normal(size=(500, 3))
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    found = directions(weights, along)
    agreement = ((found @ along.T) ** 2 * weights).sum(axis=1)
    assert np.allclose(np.linalg.norm(found, axis=1), 1.0)
    assert (agreement[:, np.newaxis] >= weights @ (others @ along.T).T ** 2 - 1e-12).all()


def test_rounding_chooses_no_direction():
    for nudge in (0.0, 1e-15, -1e-15):
        assert direction([0.5 + nudge, 0.5], *AXES[:2]).tolist() in ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    assert direction([0.5, 0.5], *AXES[:2]).tolist() == [1.0, 0.0, 0.0]
    assert direction([0.25, 0.25, 0.25], *AXES).tolist() == [1.0, 0.0, 0.0]


def test_what_no_bone_moves_has_no_direction():
    assert direction([0.0, 1.0], AXES[0], np.zeros(3)).tolist() == [0.0, 0.0, 0.0]
    assert directions(np.zeros((0, 2)), AXES[:2]).shape == (0, 3)
    heads = np.array([[0.0, 1.0, 0.0], [2.0, 2.0, 2.0]])
    assert directions_of_bones(heads, heads + [[0.0, 0.0, -3.0], [0.0, 0.0, 0.0]]).tolist() == [
        [0.0, 0.0, -1.0],
        [0.0, 0.0, 0.0],
    ]


def box():
    """Points, triangles and weights of a beam along x on two bones, one per half."""
    corners = np.array([(x, y, z) for x in (0.0, 2.0) for y in (0.0, 0.4) for z in (0.0, 0.4)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    return corners, triangles, np.stack([1.0 - corners[:, 0] / 2.0, corners[:, 0] / 2.0], axis=1)


@pytest.fixture(scope="module")
def beam():
    """A body with a stiffer far half."""
    points, triangles, weights = box()
    young = np.where(points[:, 0] > 1.0, 4e4, 1e4)
    return jounce.Body(points, triangles, weights, resolution=12, modes=3, clusters=6, young=young)


class Taken:
    """Replacement for `jounce.Fibres` with a record of the arguments."""

    def __init__(self, taken):
        self.taken = taken

    def __call__(self, *given):
        self.taken.append(given)

    @staticmethod
    def joined(_muscles):
        """Nothing more."""


def one(share, along, stiffness):
    """A body with one muscle."""
    return Muscles((Muscle(share, stiffness),), along)


def test_fibres_are_as_stiff_as_the_flesh_and_what_is_painted_say(beam, monkeypatch):
    points = beam.embedding.points
    share = points[:, 0] / 2.0
    taken = []
    monkeypatch.setattr(jounce, "Fibres", Taken(taken))
    one(share, AXES[:2], 3.0).fibres(beam)
    [(stiffness, direction)] = taken
    middle = mean_of_corners(beam.mesh.vertices, beam.mesh.tets)[:, 0]
    # Lattice corners outside of the surface take the nearest value.
    inside = (middle > 0.3) & (middle < 1.7)
    expected = 3.0 * beam.material.young * middle / 2.0
    assert np.allclose(stiffness[inside], expected[inside], rtol=0.15)
    assert np.allclose(np.abs(direction[middle < 0.3, 0]), 1.0)
    assert np.allclose(np.abs(direction[middle > 1.7, 1]), 1.0)


def test_only_what_is_painted_and_along_a_bone_has_fibres(beam, monkeypatch):
    taken = []
    monkeypatch.setattr(jounce, "Fibres", Taken(taken))
    middle = mean_of_corners(beam.mesh.vertices, beam.mesh.tets)[:, 0]
    share = (beam.embedding.points[:, 0] > 1.0).astype(float)
    one(0.0 * share, AXES[:2], 3.0).fibres(beam)
    one(share, np.zeros((2, 3)), 3.0).fibres(beam)
    one(0.0 * share + 1.0, AXES[:2], 3.0).fibres(beam)
    none, no_bones, everywhere = (stiffness for stiffness, _ in taken)
    assert not none.any() and not no_bones.any() and (everywhere > 0.0).all()
    assert len(middle) == len(everywhere)


def test_a_full_space_is_known_by_its_muscles(beam):
    ones = np.ones(len(beam.embedding.points))
    along = np.array([AXES[0], AXES[0]])
    muscles = [None, one(ones, along, 3.0), one(ones, along, 4.0), one(0.5 * ones, along, 3.0)]
    made = []
    for each in (*muscles, one(ones.copy(), along.copy(), 3.0)):
        runner = Runner(said(beam, each, made))
        runner.run(float("inf"))
    assert len({id(fine) for fine in made}) == 4 and made[4] is made[1]
    known = one(ones, along, 3.0)
    pair = Muscles((known.muscles[0], Muscle(0.0 * ones, 3.0)), along)
    assert len({known.digest, pair.digest, Muscles(pair.muscles[::-1], along).digest}) == 3
    with pytest.raises(ValueError, match="fibres"):
        jounce.Simulation(made[0].model, contraction=0.5)
    jounce.Simulation(made[1].model, contraction=0.5)


def said(body, muscles, made):
    """Makes a full space, as a task."""
    made.append((yield from full_space.prepared(body, "beam", Flesh(Law.COROTATED, 0.0), muscles)))
    return ""


def test_a_contraction_is_of_the_final_motion_alone():
    drive, relaxed = FrameInput(POSE, 1.0, contraction=(0.5,)), FrameInput(POSE, 1.0)
    assert drive.of_vertices().contraction == (0.5,)
    for other in (drive.of_modes(), drive.of_handles(), drive.of_displacements(lambda force: force)):
        assert other.contraction is None and other.digest() == relaxed.of_modes().digest()
    assert not drive.agrees(relaxed) and drive.moves_as(relaxed)
    assert drive.digest() != FrameInput(POSE, 1.0, contraction=(0.25,)).digest()


def test_muscles_of_a_body_contract_each_by_itself(beam):
    """Each muscle contracts its own half, and both contract the whole."""
    near = (beam.embedding.points[:, 0] < 1.0).astype(float)
    along = np.array([AXES[0], AXES[0]])
    both = Muscles((Muscle(near, 10.0), Muscle(1.0 - near, 10.0)), along)
    assert np.array_equal(both.share, np.ones(len(near)))
    made = []
    Runner(said(beam, both, made)).run(float("inf"))
    [fine] = made
    pose = np.repeat(POSE, 2, axis=0)

    def shortened(*contraction):
        """Relative shortening of each half."""
        simulation = jounce.Simulation(fine.model, pose_rest=0.0, contraction=np.array(contraction))
        simulation.settle(pose)
        moved = np.asarray(full_space.shaped(fine, simulation.coefficients))[:, 0]
        left, right = (moved[beam.embedding.points[:, 0] == end].mean() for end in (0.0, 2.0))
        return left, -right

    relaxed, first, second = shortened(0.0, 0.0), shortened(0.6, 0.0), shortened(0.0, 0.6)
    assert max(np.abs(relaxed)) < 1e-4
    assert first[0] > 2.0 * abs(first[1]) and second[1] > 2.0 * abs(second[0])
    with pytest.raises(ValueError, match="contraction"):
        jounce.Simulation(fine.model, contraction=np.zeros(3))
