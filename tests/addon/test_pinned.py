"""Pinned bodies: parts and pieces as a tree of domains, its slowest swing, and its steps."""

import jounce
import numpy as np
import pytest
from jounce_core.body import domains, pinned
from jounce_core.body.grip import DomainGrip
from jounce_core.body.tree_simulation import TreeSimulation
from jounce_core.common.user_error import UserError
from jounce_core.flesh.settings import FrameMaterial, MotionSettings, PinnedSettings
from jounce_core.mesh.maps import Maps
from jounce_core.mesh.surface import Part, Surface

STILL = np.eye(3, 4)[None]
SECONDS = 1.0 / 24.0


def rod(height=1.0, radius=0.03, start=(0.0, 0.0, 0.0), rings=24, sides=8):
    """A closed tube along z: points, triangles."""
    angles = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([radius * np.cos(angles), radius * np.sin(angles), 0.0 * angles], axis=1)
    points = np.concatenate([ring + (0.0, 0.0, height * number / rings) for number in range(rings + 1)])
    a = np.arange(rings * sides)
    b = a - a % sides + (a + 1) % sides
    sides_of = np.concatenate([np.stack([a, b, b + sides], 1), np.stack([a, b + sides, a + sides], 1)])
    cap = np.stack([np.zeros(sides - 2, int), np.arange(2, sides), np.arange(1, sides - 1)], 1)
    return points + start, np.concatenate([sides_of, cap, cap[:, ::-1] + rings * sides])


def several(*shapes):
    """Several shapes as one: points, triangles."""
    starts = np.cumsum([0, *(len(points) for points, _ in shapes)])
    faces = [triangles + start for (_, triangles), start in zip(shapes, starts, strict=False)]
    return np.concatenate([points for points, _ in shapes]), np.concatenate(faces)


def surface(points, triangles, held):
    part = Part("Prop", slice(0, len(points)), np.eye(3))
    return Surface(points, triangles, np.ones((len(points), 1)), (part,), maps=Maps(pinned=held))


def built(points, triangles, held, pieces=6, resolution=48):
    """The body of a prop."""
    task = pinned.made(surface(points, triangles, held), PinnedSettings(resolution, pieces))
    while True:
        try:
            next(task)
        except StopIteration as done:
            return done.value


def simulation(body, frequency=1.5, **feel):
    settings = MotionSettings(frequency, 0.08, 1.0, 4, 0.0, "bdf2")
    stiffness = (frequency / body.model.frequency) ** 2
    usual = {"stiffness": stiffness, "damping": 0.08, "pose_rest": 1.0, "gravity": (0.0, 0.0, 0.0)}
    return TreeSimulation(body, settings, SECONDS, FrameMaterial(**usual | feel))


def shown(body, simulation, pose=STILL):
    """Displacements (p, 3) of the points from their object's place."""
    return body.displacement(body.model.shown(pose[0], simulation.coefficients))


def tips(body, simulation, frames):
    """Displacement (f,) along x of the highest point in frames without loads."""
    tip, found = int(body.embedding.points[:, 2].argmax()), []
    for _ in range(frames):
        found.append(shown(body, simulation)[tip, 0])
        simulation.step(STILL)
    return np.array(found)


@pytest.fixture(scope="module")
def antenna():
    points, triangles = rod()
    return built(points, triangles, points[:, 2] < 0.01)


def test_a_rod_is_a_chain_of_pieces(antenna):
    assert antenna.model.parents.tolist() == [-1, 0, 1, 2, 3, 4, 5]
    assert antenna.pinned.any() and antenna.mesh.vertices[antenna.pinned, 2].max() < 0.1


@pytest.mark.parametrize(("pieces", "off"), [(1, 0.01), (6, 0.05), (12, 0.1)])
def test_the_slowest_swing_is_that_of_the_whole_flesh(pieces, off):
    """Interfaces are rigid: more pieces are firmer."""
    points, triangles = rod()
    body = built(points, triangles, points[:, 2] < 0.01, pieces)
    whole = jounce.linear_modes(
        body.mesh, jounce.Material(pinned.YOUNG, 0.0, pinned.DENSITY), 1, pinned=body.pinned
    )
    assert body.model.frequency == pytest.approx(whole.frequencies[0], rel=off)


def test_a_released_rod_swings_as_often_as_it_is_told(antenna):
    swings = simulation(antenna, 1.5, damping=0.01)
    swings.settle(STILL, np.array([[0.5, 0.0, 0.0]]) * antenna.model.masses[:, None])
    found = tips(antenna, swings, 72)
    crossings = np.flatnonzero(np.diff(np.sign(found)))
    assert found[0] > 0.005
    assert 24.0 * (len(crossings) - 1) / (2.0 * np.ptp(crossings)) == pytest.approx(1.5, rel=0.05)


@pytest.mark.parametrize("pieces", [2, 6, 12])
@pytest.mark.parametrize("ratio", [0.03, 0.08])
def test_a_swing_dies_away_as_fast_as_its_ratio_says(pieces, ratio):
    points, triangles = rod()
    body = built(points, triangles, points[:, 2] < 0.01, pieces)
    swings = simulation(body, 1.5, damping=ratio)
    swings.settle(STILL, np.array([[0.5, 0.0, 0.0]]) * body.model.masses[:, None])
    found = tips(body, swings, 72)
    peaks = np.flatnonzero((found[1:-1] > found[:-2]) & (found[1:-1] > found[2:])) + 1
    lost = np.log(found[peaks[0]] / found[peaks[-1]]) / (2.0 * np.pi * (len(peaks) - 1))
    assert lost == pytest.approx(ratio, rel=0.15, abs=0.004)


def test_links_of_a_chain_hang_one_on_the_other():
    links = [rod(0.1, 0.02, (0.0, 0.0, -0.09 * number), 4) for number in range(5)]
    drawn = np.random.default_rng(1).permutation(5)
    points, triangles = several(*(links[number] for number in drawn))
    found = domains.cages(points, triangles, 40)
    _, order, above = domains.attached(found, points[:, 2] > 0.095)
    place = [round(-cage.mesh.vertices[:, 2].min() / 0.09) for cage in found]
    assert [place[part] for part in order] == [0, 1, 2, 3, 4]
    assert [place[above[part]] for part in order[1:]] == [0, 1, 2, 3]


def test_blades_that_touch_stay_apart():
    points, triangles = several(*(rod(0.5, 0.01, (0.021 * number, 0.0, 0.0)) for number in range(4)))
    body = built(points, triangles, points[:, 2] < 0.01, pieces=3)
    assert np.count_nonzero(body.model.parents == 0) == 4
    assert len(body.model.limbs) == 12


def test_a_rope_held_at_both_ends_is_one_chain_and_whole():
    points, triangles = rod(rings=48)
    body = built(points, triangles, (points[:, 2] < 0.01) | (points[:, 2] > 0.99), pieces=8)
    assert np.array_equal(body.model.parents, np.arange(-1, len(body.model.limbs)))
    sags = simulation(body)
    sags.settle(STILL, np.array([[3.0, 0.0, 0.0]]) * body.model.masses[:, None])
    moved = shown(body, sags)
    ends = (points[:, 2] < 0.01) | (points[:, 2] > 0.99)
    assert np.abs(moved[ends]).max() < 1e-9
    middle = moved[np.abs(points[:, 2] - 0.5) < 0.1, 0]
    assert middle.min() > 0.5 * moved[:, 0].max() > 0.0
    rings = moved.reshape(-1, 8, 3).mean(axis=1)
    assert np.abs(np.diff(rings, axis=0)).max() < 0.3 * moved[:, 0].max()


def test_parts_apart_hang_on_the_nearest():
    stem, leaf = rod(), rod(0.2, 0.01, (0.06, 0.0, 0.9), 8)
    points, triangles = several(stem, leaf)
    body = built(points, triangles, points[:, 2] < 0.01)
    sways = simulation(body)
    sways.settle(STILL, np.array([[2.0, 0.0, 0.0]]) * body.model.masses[:, None])
    moved = shown(body, sways)
    root_of_leaf = np.flatnonzero((points[:, 0] > 0.045) & (points[:, 2] < 0.91))
    beside = np.flatnonzero((points[:, 0] < 0.04) & (np.abs(points[:, 2] - 0.9) < 0.03))
    assert moved[root_of_leaf, 0].mean() == pytest.approx(moved[beside, 0].mean(), rel=0.15)


def test_an_object_that_turns_far_and_stands_again_leaves_no_displacement(antenna):
    angle = 2.0
    pose = np.array(
        [[[np.cos(angle), -np.sin(angle), 0, 3], [np.sin(angle), np.cos(angle), 0, -2], [0, 0, 1, 1]]]
    )
    there = simulation(antenna)
    there.reset(pose)
    assert np.abs(shown(antenna, there, pose)).max() < 1e-6
    there.step(pose)
    assert np.abs(shown(antenna, there, pose)).max() < 1e-5


def test_a_scaled_object_scales_the_swing(antenna):
    force = np.array([[0.5, 0.0, 0.0]]) * antenna.model.masses[:, None]
    large = 2.0 * STILL
    small, scaled = simulation(antenna), simulation(antenna)
    small.settle(STILL, force)
    scaled.settle(large, force)
    assert np.allclose(shown(antenna, scaled, large), 2.0 * shown(antenna, small), atol=1e-6)


def test_a_restored_state_replays_the_same_bits(antenna):
    first = simulation(antenna)
    first.reset(STILL)
    pose = STILL.copy()
    kept = None
    for frame in range(12):
        if frame == 6:
            kept = first.save_state()
        pose = pose.copy()
        pose[0, 0, 3] = 0.02 * frame
        first.step(pose)
    other = simulation(antenna)
    other.restore_state(kept)
    for frame in range(6, 12):
        pose = pose.copy()
        pose[0, 0, 3] = 0.02 * frame
        other.step(pose)
    assert np.array_equal(first.coefficients, other.coefficients)


@pytest.mark.parametrize("share", [0.0, 0.5, 2.0])
def test_the_amount_is_a_share_of_the_objects_acceleration(antenna, share):
    """A frame of the same acceleration bends by the share of it."""

    def bent(amount):
        swings = simulation(antenna, 1.5)
        swings.reset(STILL)
        swings.strength = amount
        for frame in range(8):
            pose = STILL.copy()
            pose[0, 0, 3] = 1e-3 * frame**2
            swings.step(pose)
        return float(shown(antenna, swings, pose)[:, 0].min())

    assert bent(1.0) < -1e-3
    assert bent(share) == pytest.approx(share * bent(1.0), abs=2e-3 * abs(bent(1.0)))


def test_without_any_amount_it_turns_with_its_object_and_feels_the_gravity_where_it_is(antenna):
    turned = np.array([[[0.0, 0.0, 1.0, 2.0], [0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0]]])
    lying, turning = (simulation(antenna, gravity=(0.0, 0.0, -1.0)) for _ in range(2))
    lying.settle(turned)
    turning.settle(STILL)
    turning.strength = 0.0
    for _ in range(60):
        turning.vary(damping=1.0)
        turning.step(turned)
    assert np.abs(shown(antenna, lying, turned)).max() > 0.01
    assert np.allclose(shown(antenna, turning, turned), shown(antenna, lying, turned), atol=1e-4)


def test_a_moving_start_has_no_jolt(antenna):
    coasts = simulation(antenna)
    pose = STILL.copy()
    coasts.settle(pose)
    ahead = STILL.copy()
    ahead[0, 0, 3] = 0.1
    coasts.coast(ahead)
    for frame in range(1, 12):
        pose = STILL.copy()
        pose[0, 0, 3] = 0.1 * frame
        coasts.step(pose)
        assert np.abs(shown(antenna, coasts, pose)).max() < 1e-4


def test_drag_slows_a_swing(antenna):
    def reached(rate):
        swings = simulation(antenna, damping=0.0)
        swings.settle(STILL, np.array([[0.5, 0.0, 0.0]]) * antenna.model.masses[:, None])
        for _ in range(32):
            drag = jounce.Drag(rate * antenna.model.masses, np.zeros_like(antenna.model.masses))
            swings.step(STILL, None, None, drag)
        return np.abs(shown(antenna, swings)).max()

    assert reached(5.0) < 0.3 * reached(0.0)


def test_nothing_pinned_is_refused():
    points, triangles = rod()
    with pytest.raises(UserError, match="Nothing of Prop is pinned, .* paint the map Pin"):
        built(points, triangles, None)


def test_too_many_domains_are_refused(monkeypatch):
    monkeypatch.setattr(pinned, "MOST", 3)
    points, triangles = rod()
    with pytest.raises(UserError, match="Prop has 6 domains, .* at most 3 .* lower Pieces"):
        built(points, triangles, points[:, 2] < 0.01)


@pytest.mark.parametrize("pieces", [1, 2, 6, 12])
def test_a_held_domain_comes_most_of_the_way_and_rests_there(pieces):
    points, triangles = rod()
    body = built(points, triangles, points[:, 2] < 0.01, pieces)
    swings = simulation(body)
    swings.settle(STILL)
    tip = int(points[:, 2].argmax())
    held = DomainGrip(body, tip, swings)
    compliance = held.compliance(swings, STILL, 1.0)
    start = held.position(STILL, swings.coefficients)
    assert np.allclose(start, points[tip], atol=1e-6)
    target, places = start + (0.2, 0.1, 0.0), []
    for _ in range(120):
        force = held.spring(target, STILL, swings.coefficients, compliance)
        swings.step(STILL, force)
        places.append(held.position(STILL, swings.coefficients))
    assert np.linalg.norm((places[-1] - target)[:2]) < 0.4 * np.linalg.norm(target - start)
    assert np.abs(places[-1] - places[-2]).max() < 1e-4
    held.release()
    after = tips(body, swings, 12)
    assert after.min() < 0.0 < after.max()
