"""Stitches that open in a step, spread over spheres, and the errors of updated modes."""

import jounce
import numpy as np
import pytest

POSE = np.eye(3, 4)[np.newaxis]
GRAVITY = (0.0, 0.0, -9.81)


def cube(start):
    """Points and triangles of a closed box along x, of four by two by two squares a side."""
    counts = np.array([4, 2, 2])
    places = {}
    triangles = []

    def point(place):
        return places.setdefault(tuple(place), len(places))

    for axis in range(3):
        others = [other for other in range(3) if other != axis]
        for level in (0, counts[axis]):
            for i in range(counts[others[0]]):
                for j in range(counts[others[1]]):
                    corners = np.zeros((4, 3), int)
                    corners[:, axis] = level
                    corners[:, others[0]] = [i, i + 1, i + 1, i]
                    corners[:, others[1]] = [j, j, j + 1, j + 1]
                    a, b, c, d = (point(corner) for corner in corners)
                    faces = [(a, b, c), (a, c, d)]
                    outwards = (level > 0) == (axis != 1)
                    triangles += faces if outwards else [face[::-1] for face in faces]
    points = np.array(list(places), float) * [0.25, 0.2, 0.2] + [start, 0.0, 0.0]
    return points, np.array(triangles)


@pytest.fixture(scope="module")
def halves():
    """Two bars, end to end with a gap: the inputs of a Body with pinned outer ends, and two groups."""
    (left, faces), (right, _) = cube(0.0), cube(1.15)
    points = np.concatenate([left, right])
    ends = np.flatnonzero(left[:, 0] == 1.0), np.flatnonzero(right[:, 0] == 1.15) + len(left)
    pairs = np.stack(ends, axis=1)
    outer = (points[:, 0] < 0.05) | (points[:, 0] > 2.1)
    body = (points, np.concatenate([faces, faces + len(left)]), np.ones((len(points), 1)))
    settings = {"resolution": 20, "modes": 8, "clusters": 20, "pinned": outer, "stitches": pairs}
    settings |= {"stitch_gap": 1.0, "stitch_stiffness": 2e3, "young": 2e4, "editable": True}
    return body, settings, np.arange(len(pairs)) % 2


def falling(body, share, frames=10):
    """The displacements (f, p, 3) of the surface."""
    simulation = jounce.Simulation(body.model, gravity=GRAVITY, damping=0.1)
    shown = []
    for frame in range(frames):
        simulation.vary(stitching=share(frame))
        simulation.step(POSE)
        shown.append(body.model.displacement(simulation.coefficients, body.embedding))
    return np.array(shown)


def test_groups_open_one_by_one(halves):
    arguments, settings, groups = halves
    body = jounce.Body(*arguments, **settings, stitch_group=groups, stitch_known=0.01)
    closed = falling(body, lambda _: 1.0)
    assert np.array_equal(closed, falling(body, lambda _: [1.0, 1.0]))
    assert np.array_equal(falling(body, lambda _: [0.5, 0.5]), falling(body, lambda _: 0.5))
    torn = [falling(body, lambda _, share=share: share) for share in ([0.0, 1.0], [1.0, 0.0], 0.0)]
    assert len({shape.tobytes() for shape in (closed, *torn)}) == 4
    late = falling(body, lambda frame: 1.0 if frame < 5 else 0.0)
    assert np.array_equal(late[:5], closed[:5]) and np.abs(late[9] - closed[9]).max() > 1e-4


def test_a_job_opens_as_a_simulation_does(halves):
    arguments, settings, groups = halves
    body = jounce.Body(*arguments, **settings, stitch_group=groups)
    simulation = jounce.Simulation(body.model, gravity=GRAVITY, damping=0.1)
    job = jounce.MotionJob(simulation)
    expected = []
    for frame in range(6):
        share = np.array([1.0 - frame / 5.0, 1.0])
        for target in (job, simulation):
            target.vary(stitching=share)
            target.step(POSE)
        job.keep()
        expected.append(simulation.coefficients.copy())
    job.wait()
    assert np.array_equal(job.coefficients(), np.array(expected))


def test_modes_that_know_little_of_a_stitch_move_it_apart(halves):
    arguments, settings, _ = halves
    apart = []
    for known in (1.0, 1e-3):
        body = jounce.Body(*arguments, **settings | {"stitch_stiffness": 1e5}, stitch_known=known)
        weights = body.embedding.interpolate(body.modes.weights.copy())
        a, b = settings["stitches"].T
        weights = weights[:, :2] / np.abs(weights[:, :2]).max(axis=0)
        apart.append(np.abs(weights[a] - weights[b]).max())
    assert apart[0] < 0.1 and apart[1] > 0.5


def test_residuals_show_where_an_update_is_off(halves):
    arguments, settings, _ = halves
    without = {key: value for key, value in settings.items() if not key.startswith("stitch")}
    built = jounce.Body(*arguments, **without)
    assert built.residual == 0.0 and not built.residuals.any()
    sewn = jounce.Body(*arguments, **settings, like=built)
    exact = jounce.Body(*arguments, **settings | {"modes": 12}).modes
    assert 0.0 < sewn.residual < 0.01
    assert sewn.residuals.shape == (len(sewn.mesh.vertices),) and (sewn.residuals >= 0.0).all()
    # Part of each mode outside of the exact ones of about its eigenvalue; any mixture of these is as good.
    root = np.sqrt(sewn.mesh.vertex_volumes)[:, np.newaxis]
    off = np.zeros(len(sewn.residuals))
    for found, value in zip(sewn.modes.weights.T, sewn.modes.eigenvalues, strict=True):
        near = exact.weights[:, np.abs(exact.eigenvalues / value - 1.0) < 0.1]
        shares = np.linalg.lstsq(root * near, root[:, 0] * found, rcond=None)[0]
        off += ((found - near @ shares) / np.abs(found).max()) ** 2
    off = np.sqrt(off / 8)
    assert off.max() < sewn.residuals.max() < 5.0 * off.max()
    assert np.corrcoef(off, sewn.residuals)[0, 1] > 0.7
    assert not sewn.residuals[sewn.pinned].any()


def test_a_radius_spreads_what_a_stitch_pulls_at(halves):
    arguments, settings, _ = halves
    shapes = []
    for radius in (None, 0.0, 0.1):
        spread = {} if radius is None else {"stitch_radius": radius}
        shapes.append(falling(jounce.Body(*arguments, **settings, **spread), lambda _: 1.0))
    assert np.array_equal(shapes[0], shapes[1]) and np.abs(shapes[2] - shapes[0]).max() > 1e-6


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"stitch_known": 0.0}, "stitch_known: expected numbers in \\(0, 1\\]"),
        ({"stitch_radius": -0.1}, "radius: expected numbers of metres >= 0"),
        ({"stitch_group": np.full(9, 32)}, "stitch_group: element 0 refers to index 32"),
        ({"stitch_group": np.zeros(2, int)}, "stitch_group"),
        ({"stitch_known": np.ones(3)}, "stitch_known"),
    ],
)
def test_what_makes_no_sense_is_refused(halves, wrong, sentence):
    arguments, settings, _ = halves
    with pytest.raises(ValueError, match=sentence):
        jounce.Body(*arguments, **settings, **wrong)


def test_shares_that_make_no_sense_are_refused(halves):
    arguments, settings, groups = halves
    model = jounce.Body(*arguments, **settings, stitch_group=groups).model
    for share, sentence in (
        (1.5, r"in \[0, 1\]"),
        ([1.0, 0.5, 0.0], r"\(2,\)"),
        (np.nan, "stitching"),
        ([], "empty"),
    ):
        with pytest.raises(ValueError, match=sentence):
            jounce.Simulation(model, stitching=share)
        simulation = jounce.Simulation(model)
        with pytest.raises(ValueError, match=sentence):
            simulation.vary(stitching=share)
