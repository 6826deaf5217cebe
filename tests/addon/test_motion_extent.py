"""The extent of a motion, of flesh and skin, by hand and on bodies."""

from dataclasses import replace
from types import SimpleNamespace

import jounce
import numpy as np
import pytest
from jounce_core.mesh import folds, rest_check
from jounce_core.mesh.surface import Part, Surface
from jounce_core.shot import motion_extent, tearing
from jounce_core.shot.motion_extent import Extent, Gauge
from jounce_core.stepping.motion import FrameInput


@pytest.fixture(scope="module")
def ball():
    """A ball on one bone, pinned below its middle: its surface and its body."""
    return made(40)


def made(sides):
    """The ball with this many points around it."""
    turns, rises = np.meshgrid(
        np.arange(sides) * 2.0 * np.pi / sides, np.linspace(-1.5, 1.5, 3 * sides // 4 + 1)
    )
    points = np.stack([np.cos(turns) * np.cos(rises), np.sin(turns) * np.cos(rises), np.sin(rises)], axis=-1)
    at = np.arange(points[..., 0].size).reshape(turns.shape)
    a, b = at[:-1], at[1:]
    c, d = np.roll(b, -1, axis=1), np.roll(a, -1, axis=1)
    triangles = np.concatenate(
        [np.stack(corners, axis=-1).reshape(-1, 3) for corners in ((a, c, b), (a, d, c))]
    )
    points = points.reshape(-1, 3)
    weights = np.ones((len(points), 1))
    surface = Surface(points, triangles, weights, (Part("Ball", slice(0, len(points)), np.eye(3)),))
    pinned = points[:, 2] < 0.0
    return surface, jounce.Body(
        points, triangles, weights, resolution=16, modes=6, clusters=20, pinned=pinned
    )


def shot(body):
    """Drives that rotate the ball, and coefficients that grow from zero."""
    drives = []
    for angle in np.linspace(0.0, 2.0, 8):
        turn = np.array(
            [[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0, 0, 1.0]]
        )
        drives.append(FrameInput(np.column_stack([turn, [5.0 * angle, 0.0, 0.0]])[np.newaxis], 1.0))
    coefficients = [np.zeros((6, 3, 4)) for _ in drives]
    for index, z in enumerate(coefficients):
        z[:, 0, 0] = z[:, 2, 3] = 0.05 * index / np.abs(body.modes.weights).max()
    return drives, coefficients


def test_it_is_what_the_whole_skin_says(ball):
    surface, body = ball
    drives, coefficients = shot(body)
    gauge = Gauge(body, surface, drives)
    edges = np.unique(np.sort(surface.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    soft = motion_extent.soft_points(body)
    assert 0 < len(soft) < len(surface.points)
    for index, (drive, z) in enumerate(zip(drives, coefficients, strict=True)):
        moved = body.model.displacement(z, body.embedding)
        places = [surface.points @ drive.pose[0, :, :3].T + drive.pose[0, :, 3] + u for u in (0.0, moved)]
        before, after = (np.linalg.norm(p[edges[:, 0]] - p[edges[:, 1]], axis=1) for p in places)
        stretch = np.quantile(np.abs(after / before - 1.0), 1.0 - motion_extent.SIDES * motion_extent.TORN)
        size = np.quantile(np.linalg.norm(moved[soft], axis=1), 0.95) / surface.diagonal
        found = gauge.of_frame(index, z)
        assert found.size == pytest.approx(size, rel=0.02, abs=1e-9)
        assert found.strain == pytest.approx(stretch, rel=0.05, abs=1e-6)
    assert found.size > 0.01 and found.strain > 0.05


def test_few_torn_edges_are_found_among_thousands():
    surface, body = made(80)
    drives, coefficients = shot(body)
    # Edges of every length and direction, of which a thousandth is few in a sample.
    places = np.random.default_rng(2).normal(0.0, 0.03, surface.points.shape)
    rough = replace(surface, points=surface.points + places)
    edges = motion_extent.edges_of(surface.triangles)
    moved = body.model.displacement(coefficients[7], jounce.Embedding(body.mesh, rough.points))
    before, after = (
        np.linalg.norm((p[edges[:, 0]] - p[edges[:, 1]]), axis=1)
        for p in (rough.points, rough.points + moved)
    )
    stretch = np.quantile(np.abs(after / before - 1.0), 1.0 - motion_extent.SIDES * motion_extent.TORN)
    still = [replace(drive, pose=np.eye(3, 4)[np.newaxis]) for drive in drives]
    found = Gauge(body, rough, still).of_frame(7, coefficients[7])
    assert len(edges) > 10_000 and found.strain == pytest.approx(stretch, rel=0.02)


def test_where_the_flesh_holds_it_neither_moves_nor_stretches(ball):
    surface, body = ball
    drives, coefficients = shot(body)
    held = [replace(drive, held="frozen") for drive in drives]
    assert Gauge(body, surface, held).of_frame(7, coefficients[7]) == Extent(0.0, 0.0)


def test_a_skin_of_few_edges_that_all_follow_the_bones_does_not_stretch(ball):
    surface, body = ball
    drives, coefficients = shot(body)
    held = SimpleNamespace(
        model=body.model,
        mesh=body.mesh,
        embedding=body.embedding,
        pinned=np.ones_like(body.pinned),
        parts=[],
    )
    found = Gauge(held, replace(surface, triangles=surface.triangles[:10]), drives).of_frame(
        7, coefficients[7]
    )
    assert found.size > 0.01 and found.strain == 0.0


def in_parts(body):
    """The ball as a body of two parts, left and right."""
    right = (body.mesh.vertices[:, 0] > 0.0).astype(float)
    return SimpleNamespace(
        model=body.model,
        mesh=body.mesh,
        embedding=body.embedding,
        pinned=body.pinned,
        parts=["belly", "tail"],
        part_weights=np.stack([1.0 - right, right]),
    )


def test_parts_are_measured_too_each_beside_what_is_natural_for_it(ball):
    surface, body = ball
    drives, coefficients = shot(body)
    whole = Gauge(body, surface, drives).of_frame(7, coefficients[7])
    gauge = Gauge(in_parts(body), surface, drives)
    found = gauge.of_frame(7, coefficients[7])
    assert gauge.parts == ("belly", "tail") and whole.parts == ()
    belly, tail = found.parts
    natural = motion_extent.MOTION
    sizes = belly.size * natural["belly"], tail.size * natural["tail"]
    assert max(sizes) == pytest.approx(whole.size, rel=0.1)
    # The body's is that of the belly: the tail hangs on it, and may be calmed alone.
    assert tail.hangs and not belly.hangs
    assert found.size == pytest.approx(max(belly.size, tail.size / motion_extent.EXCESS), rel=0.1)
    assert max(belly.strain, tail.strain) >= whole.strain >= found.strain
    held = Gauge(in_parts(body), surface, [replace(drive, held="frozen") for drive in drives])
    assert motion_extent.of_motion([held.of_frame(0, coefficients[7]), found]).parts[0].strain == belly.strain


@pytest.mark.parametrize("height", [0.7, 0.8])
def test_the_stretch_of_what_hangs_counts_a_third(ball, height):
    surface, body = ball
    drives, coefficients = shot(body)
    whole, capped = Gauge(body, surface, drives).of_frame(7, coefficients[7]), in_parts(body)
    cap = (body.mesh.vertices[:, 2] > height).astype(float)
    capped.part_weights = np.stack([cap, 1.0 - cap])
    found = Gauge(capped, surface, drives).of_frame(7, coefficients[7])
    belly, tail = found.parts
    assert belly.strain < tail.strain == pytest.approx(whole.strain, rel=0.1)
    assert (
        0.99 * tail.strain / motion_extent.EXCESS
        <= found.strain
        <= max(belly.strain, tail.strain / motion_extent.EXCESS)
    )
    assert found.strain < 0.9 * whole.strain


def test_a_body_that_is_a_single_part_hangs_on_nothing(ball):
    surface, body = ball
    drives, coefficients = shot(body)
    fish, whole = in_parts(body), Gauge(body, surface, drives).of_frame(7, coefficients[7])
    fish.part_weights = np.outer([0.0, 1.0], np.ones(len(body.mesh.vertices)))
    found = Gauge(fish, surface, drives).of_frame(7, coefficients[7])
    [tail] = found.parts
    assert not tail.hangs and found.size * motion_extent.MOTION["tail"] == pytest.approx(whole.size)


def test_at_the_border_of_a_part_its_own_bound_counts(ball):
    surface, body = ball
    drives, coefficients = shot(body)
    mixed, whole = in_parts(body), Gauge(body, surface, drives).of_frame(7, coefficients[7])
    mixed.part_weights = np.outer([0.6, 0.4], np.ones(len(body.mesh.vertices)))
    gauge = Gauge(mixed, surface, drives)
    [belly] = gauge.of_frame(7, coefficients[7]).parts
    assert gauge.parts == ("belly",)
    assert belly.size * motion_extent.MOTION["belly"] == pytest.approx(whole.size)


def test_a_part_in_a_thin_layer_is_measured_where_it_moves(ball):
    surface, body = ball
    drives, coefficients = shot(body)
    thin = in_parts(body)
    corners = body.mesh.tets[body.embedding.tets]
    right = (thin.part_weights[1][corners] > 0.5).any(axis=1)
    thin.pinned = body.pinned.copy()
    # One corner of each tet with a point of the tail is bone.
    thin.pinned[corners[right][:, 0]] = True
    found = Gauge(thin, surface, drives)
    assert found.parts == ("belly", "tail")
    belly, tail = found.of_frame(7, coefficients[7]).parts
    assert not belly.thin and tail.thin and tail.size > 0.0
    assert motion_extent.of_motion([found.of_frame(7, coefficients[7])]).parts[1].thin


def test_one_turned_triangle_of_few_is_too_many(ball):
    surface, body = ball
    drives, coefficients = shot(body)
    assert len(surface.triangles) > 1.0 / motion_extent.TORN
    few = replace(surface, triangles=surface.triangles[-900:])
    turns = tearing.turns(
        rest_check.posed_points(few, drives[7].pose),
        body.model.displacement(coefficients[7], body.embedding),
        few.triangles,
        few.diagonal,
    )
    found = Gauge(body, few, drives).of_frame(7, coefficients[7])
    assert found.strain >= motion_extent.UPRIGHT * turns.max() * (1.0 - 1e-6) > 0.0


def test_flesh_gets_firmer_where_it_stretched_in_the_measured_frames(ball):
    surface, body = ball
    drives, coefficients = shot(body)
    gauge = Gauge(body, surface, drives)
    assert gauge.firmed("", 1e-6) == ""
    strain = gauge.of_frame(7, coefficients[7]).strain
    assert gauge.firmed("", 2.0 * strain) == ""
    found = folds.factors(gauge.firmed("", 1e-6), len(surface.points))
    moved = body.model.displacement(coefficients[7], body.embedding)
    edges = motion_extent.edges_of(surface.triangles)
    posed = surface.points @ drives[7].pose[0, :, :3].T + drives[7].pose[0, :, 3]
    stretch = tearing.stretches(posed, moved, edges, surface.diagonal)
    assert found[edges[stretch.argmax()]].min() > 1.5 and np.median(found) == 1.0


def test_one_wild_strike_says_little_of_a_motion_but_its_stretch_is_seen():
    calm = [Extent(0.01, 0.1)] * 39
    whole = motion_extent.of_motion([*calm[:20], Extent(1.0, 9.0), *calm[20:]])
    assert whole == Extent(pytest.approx(0.01), pytest.approx(9.0), wildest=20)


def test_a_part_of_a_shot_with_its_wildest_frames_is_as_large_as_the_whole():
    wild = [Extent(size, 0.1, parts=(Extent(2.0 * size),)) for size in np.linspace(0.09, 0.04, 20)]
    whole = motion_extent.of_motion([Extent(0.01, 0.1, parts=(Extent(0.02),))] * 140 + wild)
    found = motion_extent.of_motion(wild, 20 / 160)
    assert found.size == pytest.approx(whole.size, rel=0.02)
    assert found.parts[0].size == pytest.approx(whole.parts[0].size, rel=0.02)
    assert motion_extent.of_motion(wild).size > 1.2 * whole.size
    # In a few frames of a long shot all may be strikes.
    assert motion_extent.of_motion(wild, 20 / 1600).size == 0.04


def test_the_wildest_frame_has_others_like_it_around_it():
    strains = np.full(60, 0.2)
    strains[6] = 1.0
    assert motion_extent.wildest_of(strains) == 6
    strains[[14, 22, 27, 28, 30]] = 0.97
    assert 27 <= motion_extent.wildest_of(strains) <= 30
    # A much wilder one counts more than many others.
    strains[6] = 1.3
    assert motion_extent.wildest_of(strains) == 6
    assert motion_extent.wildest_of(np.zeros(5)) in range(5)


def test_items_are_thinned_evenly():
    assert motion_extent.thinned(np.arange(10), 10).tolist() == list(range(10))
    assert motion_extent.thinned(np.arange(10), 4).tolist() == [0, 3, 6, 9]
    assert len(motion_extent.thinned(np.arange(0), 4)) == 0


def test_quantiles_and_lengths_have_the_bits_of_numpy():
    random = np.random.default_rng(3)
    for count in (1, 2, 3, 40, 1999):
        values, vectors = random.exponential(size=count), random.normal(size=(count, 3))
        for share in (0.0, 0.3, 0.5, 0.95, 0.999, 1.0):
            assert motion_extent.quantile(values, share) == np.quantile(values, share)
        assert np.array_equal(rest_check.norms(vectors), np.linalg.norm(vectors, axis=1))
    assert np.isnan(motion_extent.quantile(np.array([1.0, np.nan, 2.0]), 0.5))


def test_a_gauge_of_another_motion_shares_poses_and_measures_the_same(ball):
    surface, body = ball
    drives, coefficients = shot(body)
    gauge = Gauge(body, surface, drives)
    gauge.of_frame(7, coefficients[7])
    other = gauge.over(body, replace(surface, keeps_stiffness=True), drives[4:])
    assert other is not gauge and other._poses is gauge._poses
    assert other.firmed("", 1e-6) == ""
    assert other.of_frame(3, coefficients[7]) == Gauge(body, surface, drives[4:]).of_frame(3, coefficients[7])
    larger = replace(surface, points=2.0 * surface.points)
    assert gauge.over(body, larger, drives)._poses is not gauge._poses
