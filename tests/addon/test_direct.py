"""Directed motion: keys are passed with least effort, and nothing changes outside of their spans."""

import itertools

import numpy as np
import pytest
from jounce_core.body.full_space import Pointwise
from jounce_core.direct import oscillator
from jounce_core.direct.curves import Curves, FrameCurves, Region, ringing
from jounce_core.direct.director import Clip, Director, ShapeKey, Swings
from jounce_core.direct.dragging import handful
from jounce_core.direct.oscillator import SUBSTEPS, Oscillator
from jounce_core.direct.windows import Span, windows
from jounce_core.mesh.surface import Part, Surface
from scipy import integrate, optimize

FPS = 24.0
SOFT, FIRM, SLOW, STRONGLY_DAMPED = (
    Oscillator(2.0 * np.pi * 2.5 / FPS, 0.12),
    Oscillator(2.0 * np.pi * 9.0 / FPS, 0.3),
    Oscillator(2.0 * np.pi * 0.3 / FPS, 0.02),
    Oscillator(2.0 * np.pi * 2.0 / FPS, 1.7),
)
POINTS, FRAMES = 40, 60


# The oscillator.


@pytest.mark.parametrize("of", [SOFT, FIRM, SLOW, STRONGLY_DAMPED, Oscillator(0.7, 1.0)])
def test_the_states_are_those_of_an_integrator(of):
    def slope(_time, state):
        return [state[1], 1.0 - 2.0 * of.zeta * of.omega * state[1] - of.omega**2 * state[0]]

    step = 1.0 / SUBSTEPS
    pushed = integrate.solve_ivp(slope, (0.0, step), (0.0, 0.0), rtol=1e-11, atol=1e-13).y[:, -1]

    def free(_time, state):
        return [state[1], -2.0 * of.zeta * of.omega * state[1] - of.omega**2 * state[0]]

    times = np.arange(40) * step
    after = integrate.solve_ivp(free, (0.0, times[-1]), pushed, t_eval=times, rtol=1e-11, atol=1e-13).y.T
    assert np.abs(of.response(40, step) - after).max() < 1e-8


def effort_of_program(of, values, length, per_frame):
    """Least effort by a quadratic program: forces on a finer grid, states by the matrices of a difference.

    values: by frame. Effort: the integral of the squared force.
    """
    steps, h = length * per_frame, 1.0 / per_frame
    matrix = np.array([[0.0, 1.0], [-(of.omega**2), -2.0 * of.zeta * of.omega]])
    # The trapezoidal rule.
    left, right = np.linalg.inv(np.eye(2) - 0.5 * h * matrix), np.eye(2) + 0.5 * h * matrix
    step, push = left @ right, left @ np.array([0.0, h])
    rows, state = {}, np.zeros((2, steps))
    for node in range(1, steps + 1):
        state = step @ state
        state[:, node - 1] += push
        if node % per_frame == 0:
            rows[node // per_frame] = state.copy()
    wanted = [(rows[frame][0], value) for frame, value in values.items()]
    wanted += [(rows[length][0], 0.0), (rows[length][1], 0.0)]
    constraints, targets = np.array([row for row, _ in wanted]), np.array([value for _, value in wanted])
    scale = np.linalg.norm(constraints, axis=1)
    found = optimize.minimize(
        lambda force: h * force @ force,
        np.linalg.lstsq(constraints, targets, rcond=None)[0] * 1.1,
        jac=lambda force: 2.0 * h * force,
        hess=lambda _force: 2.0 * h * np.eye(steps),
        method="trust-constr",
        constraints=optimize.LinearConstraint(constraints / scale[:, None], targets / scale, targets / scale),
        options={"gtol": 1e-9, "maxiter": 300},
    )
    assert np.abs(constraints @ found.x - targets).max() < 1e-6
    return found.fun


@pytest.mark.parametrize("of", [SOFT, FIRM, SLOW, STRONGLY_DAMPED])
@pytest.mark.parametrize("values", [{12: 1.0}, {3: 1.0}, {6: 1.0, 9: -0.4, 18: 0.7}])
def test_the_effort_is_the_least_of_a_quadratic_program(of, values):
    plan = oscillator.through(list(values), 24, of)
    forces = np.array(list(values.values())) @ plan.forces
    effort = float(forces @ forces) / SUBSTEPS
    least = effort_of_program(of, values, 24, 2 * SUBSTEPS)
    assert 0.98 * least < effort < 1.05 * least, (effort, least)


@pytest.mark.parametrize("of", [SOFT, FIRM, SLOW, STRONGLY_DAMPED])
def test_keys_are_passed_from_rest_to_rest(of):
    times = [1, 5, 6, 17]
    plan = oscillator.through(times, 20, of)
    assert np.abs(plan.values[:, times] - np.eye(4)).max() < 1e-8
    states = oscillator.played(of, plan.forces, np.zeros((2, 4)))
    assert np.abs(states[[0, -1]]).max() < 1e-8


def test_a_cycle_closes_and_is_passed():
    plan = oscillator.around([3, 10], 20, SOFT)
    assert np.abs(plan.values[:, [3, 10]] - np.eye(2)).max() < 1e-9
    assert np.abs(plan.values[:, 0] - plan.values[:, 20]).max() < 1e-9


def test_a_long_cycle_with_one_key_is_the_same_as_a_long_span():
    cycle, alone = oscillator.around([60], 120, FIRM), oscillator.through([60], 120, FIRM)
    assert np.abs(cycle.values - alone.values).max() < 1e-9


# Windows.


def test_overlapping_spans_are_solved_together_and_others_alone():
    found = windows([Span(30, 3, 4), Span(5, 12, 12), Span(33, 5, 1), Span(50, 9, 9)], None)
    assert [sorted(each.keys) for each in found] == [[1], [0, 2], [3]]
    assert [(each.first, each.length) for each in found] == [(-7, 24), (27, 7), (41, 18)]
    assert not found[0].covers(-7) and found[0].covers(-6) and found[0].covers(16) and not found[0].covers(17)


@pytest.mark.parametrize("period", [41, 50, 70])
def test_a_span_wraps_around_a_loop(period):
    found = windows([Span(2, 8, 8)], period)
    (alone,) = windows([Span(2, 8, 8)], None)

    def at(row):
        return [each.at(row, [SOFT]) for each in found if each.covers(row)]

    for row in range(-5, 10):
        (shares,) = at(row % period)
        assert np.allclose(shares, alone.at(row, [SOFT]), atol=1e-12)
    assert not any(at(row) for row in range(10, period - 5))


def test_without_swing_the_way_is_straight():
    (window,) = windows([Span(20, 12, 12, swing=0.0)], None)
    way = np.array([window.at(row, [SOFT])[0, 0] for row in range(9, 32)])
    assert (np.diff(way[:12]) >= -1e-12).all() and (np.diff(way[11:]) <= 1e-12).all() and way.min() > -1e-12


# The director.


@pytest.fixture
def flesh():
    return Flesh()


class Flesh:
    """A cloud of points on two turning bones, whose flesh rings; the last points are held by the rig."""

    def __init__(self):
        draw = np.random.default_rng(5)
        points = draw.normal(size=(POINTS, 3))
        weights = draw.uniform(size=(POINTS, 2))
        weights /= weights.sum(axis=1, keepdims=True)
        self.surface = Surface(
            points,
            np.arange(POINTS - POINTS % 3).reshape(-1, 3),
            weights,
            (Part("a", slice(0, POINTS), np.eye(3)),),
        )
        self.flesh = np.ones(POINTS)
        self.flesh[-5:] = 0.0
        self.shapes = draw.normal(size=(2, POINTS, 3)) * (self.flesh > 0.0)[:, None]
        swings = Swings(self.shapes, (SOFT, Oscillator(2.0 * np.pi * 4.0 / FPS, 0.12), SOFT), self.flesh, FPS)
        self.director = Director(self.surface, swings)
        times = np.arange(FRAMES)
        ring = SOFT.transition(np.maximum(0.0, times - 8.0))[:, 0, 0] * np.minimum(1.0, times / 8.0)
        rest = draw.normal(size=(POINTS, 3)) * self.flesh[:, None]
        self.poses = np.stack([turned(0.03 * time) for time in times])
        local = 0.1 * ring[:, None, None] * self.shapes[0] + 0.01 * np.sin(0.4 * times)[:, None, None] * rest
        maps = np.einsum("pb,fbij->fpij", weights, self.poses[:, :, :, :3])
        self.frames = np.einsum("fpij,fpj->fpi", maps, local).astype(np.float32)
        self.maps = maps

    def clip(self, count=FRAMES, **more):
        return Clip(count, lambda row: (self.frames[row], Pointwise()), lambda row: self.poses[row], **more)

    def shown(self, row, keys=(), curves=None, **clip):
        at = curves if callable(curves) else lambda _row: curves or FrameCurves()
        found = self.director.directed(self.clip(**clip), row, list(keys), at)
        return self.frames[row] if found is None else found

    def key(self, row, offset=0.3, before=12, after=12, scale=1.0):
        draw = np.random.default_rng(row)
        shape = (offset * draw.normal(size=(POINTS, 3)) * (self.flesh > 0.0)[:, None]).astype(np.float32)
        return ShapeKey(Span(row, before, after), shape, scale)

    def placed(self, key):
        return np.einsum("pij,pj->pi", self.maps[key.span.row], key.offsets)


def turned(angle):
    """Poses of two bones."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return np.stack(
        [np.column_stack([turn, [0.1, 0.0, 0.0]]), np.column_stack([turn.T @ turn.T, np.zeros(3)])]
    )


def test_nothing_directed_is_nothing_changed(flesh):
    clip = flesh.clip()
    assert all(
        flesh.director.directed(clip, row, [], lambda _row: FrameCurves()) is None for row in range(FRAMES)
    )


def test_a_key_is_passed_and_nothing_changes_outside_of_its_span(flesh):
    key = flesh.key(30, before=9, after=14)
    off = np.abs(flesh.shown(30, [key]) - flesh.placed(key)).max() / np.abs(flesh.placed(key)).max()
    assert off < 1e-5
    rows = [row for row in range(FRAMES) if not np.array_equal(flesh.shown(row, [key]), flesh.frames[row])]
    assert rows == list(range(22, 44))


def test_several_keys_are_passed_each(flesh):
    keys = [flesh.key(row, before=12, after=12) for row in (14, 20, 21, 33)]
    for key in keys:
        assert np.abs(flesh.shown(key.span.row, keys) - flesh.placed(key)).max() < 1e-5


def test_the_last_of_two_keys_of_a_frame_counts(flesh):
    first, second = flesh.key(20), ShapeKey(Span(20, 12, 12), -flesh.key(20).offsets)
    assert np.abs(flesh.shown(20, [first, second]) - flesh.placed(second)).max() < 1e-5


def test_the_scale_is_of_the_change(flesh):
    half, whole, none = (flesh.shown(24, [flesh.key(24, scale=scale)]) for scale in (0.5, 1.0, 0.0))
    assert np.allclose(half, 0.5 * (whole + flesh.frames[24]), atol=1e-6)
    assert np.allclose(none, flesh.frames[24], atol=1e-6)


def test_what_the_rig_alone_moves_stays(flesh):
    shape = np.ones((POINTS, 3), np.float32)
    curves = FrameCurves(Curves(2.0, 1.5, 3.0))
    for row in (18, 24, 30):
        shown = flesh.shown(row, [ShapeKey(Span(24, 12, 12), shape)], curves)
        assert np.array_equal(shown[-5:], flesh.frames[row][-5:])
        assert not np.allclose(shown[:-5], flesh.frames[row][:-5])


def test_frames_are_the_same_in_any_order_and_from_any_director(flesh):
    keys, curves = [flesh.key(20), flesh.key(40)], FrameCurves(Curves(1.5, -2.5, 2.0))
    forwards = [flesh.shown(row, keys, curves) for row in range(FRAMES)]
    other = Flesh()
    for row in np.random.default_rng(1).permutation(FRAMES).tolist():
        assert np.array_equal(other.shown(row, keys, curves), forwards[row])


def test_the_effort_in_the_swings_is_the_least(flesh):
    # A key in the span of the modes, on a still motion: each mode moves as its own program says.
    flesh.frames[:] = 0.0
    amounts = np.array([0.4, -0.7])
    shape = np.tensordot(amounts, flesh.shapes, axes=1).astype(np.float32)
    key = ShapeKey(Span(30, 12, 12), shape)
    for mode, of in enumerate(flesh.director.swings.oscillators[:2]):
        plan = oscillator.through([12], 24, of)
        least = effort_of_program(of, {12: 1.0}, 24, 2 * SUBSTEPS)
        assert float(plan.forces[0] @ plan.forces[0]) / SUBSTEPS < 1.05 * least
        for row in range(18, 43):
            local = np.linalg.solve(flesh.maps[row], flesh.shown(row, [key])[:, :, None].astype(float))[
                :, :, 0
            ]
            found = flesh.director.swings.amounts(local)[mode]
            assert abs(found - amounts[mode] * plan.values[0, row - 18]) < 1e-5


def test_spans_at_the_ends_of_a_clip_reach_beyond(flesh):
    for row in (0, 1, FRAMES - 1):
        key = flesh.key(row)
        assert np.abs(flesh.shown(row, [key]) - flesh.placed(key)).max() < 1e-5


@pytest.mark.parametrize(("before", "after"), [(1, 1), (0, 0), (-3, -3), (1, 200), (500, 1)])
def test_degenerate_spans(flesh, before, after):
    key = flesh.key(30, before=before, after=after)
    shown = np.stack([flesh.shown(row, [key]) for row in range(FRAMES)])
    assert np.isfinite(shown).all()
    assert np.abs(shown[30] - flesh.placed(key)).max() < 1e-4
    if max(before, after) <= 1:
        assert [row for row in range(FRAMES) if not np.array_equal(shown[row], flesh.frames[row])] == [30]


def test_keys_outside_of_the_clip_and_frames_not_there_yet_count_for_nothing(flesh):
    key = flesh.key(30)
    assert np.array_equal(flesh.shown(22, [key], count=25), flesh.frames[22])
    beyond = ShapeKey(Span(-4, 12, 12), key.offsets)
    assert np.array_equal(flesh.shown(2, [beyond]), flesh.frames[2])


def test_a_cut_bounds_keys_and_lag(flesh):
    key, cut = flesh.key(30), frozenset([27])
    rows = [
        row
        for row in range(FRAMES)
        if not np.array_equal(flesh.shown(row, [key], starts=cut), flesh.frames[row])
    ]
    assert rows == list(range(27, 42))
    late = FrameCurves(Curves(lag=4.0))
    shown = flesh.shown(28, curves=late, starts=cut)
    assert np.allclose(local(flesh, 28, shown), local(flesh, 27, flesh.frames[27]), atol=1e-5)


def test_held_frames_are_left_alone(flesh):
    held = frozenset([30])
    curves = FrameCurves(Curves(2.0))
    clip = flesh.clip(starts=held, held=held)
    assert flesh.director.directed(clip, 30, [flesh.key(30)], lambda _row: curves) is None
    assert flesh.director.directed(clip, 31, [], lambda _row: curves) is not None


# Curves.


def local(flesh, row, world):
    """Offsets in the rest pose."""
    return np.linalg.solve(flesh.maps[row], world[:, :, None].astype(float))[:, :, 0]


def test_exaggerate_scales_the_displacement(flesh):
    for factor in (0.0, 0.5, 3.0):
        shown = flesh.shown(13, curves=FrameCurves(Curves(exaggerate=factor)))
        assert np.allclose(shown, factor * flesh.frames[13], atol=1e-6)


@pytest.mark.parametrize("lag", [-6.0, -2.0, 1.0, 5.0])
def test_lag_shows_another_frame_in_this_pose(flesh, lag):
    shown = flesh.shown(20, curves=FrameCurves(Curves(lag=lag)))
    source = 20 - int(lag)
    assert np.allclose(local(flesh, 20, shown), local(flesh, source, flesh.frames[source]), atol=1e-5)


def test_lag_blends_between_frames_and_ends_with_the_clip(flesh):
    shown = flesh.shown(20, curves=FrameCurves(Curves(lag=0.25)))
    blend = 0.75 * local(flesh, 20, flesh.frames[20]) + 0.25 * local(flesh, 19, flesh.frames[19])
    assert np.allclose(local(flesh, 20, shown), blend, atol=1e-5)
    late = flesh.shown(FRAMES - 1, curves=FrameCurves(Curves(lag=-6.0)))
    assert np.allclose(late, flesh.frames[FRAMES - 1], atol=1e-5)


def test_lag_wraps_in_a_loop(flesh):
    shown = flesh.shown(2, curves=FrameCurves(Curves(lag=5.0)), period=FRAMES - 1)
    assert np.allclose(local(flesh, 2, shown), local(flesh, FRAMES - 4, flesh.frames[FRAMES - 4]), atol=1e-5)


def test_a_loop_with_keys_ends_as_it_starts(flesh):
    flesh.frames[-1], flesh.poses[-1], flesh.maps[-1] = flesh.frames[0], flesh.poses[0], flesh.maps[0]
    for keys in ([flesh.key(2)], [flesh.key(row, before=20, after=20) for row in (5, 25, 45)]):
        ends = [flesh.shown(row, keys, period=FRAMES - 1) for row in (0, FRAMES - 1)]
        assert np.array_equal(*ends) and not np.array_equal(ends[0], flesh.frames[0])


def test_follow_through_rings_out_longer_and_shorter(flesh):
    left = []
    for follow in (0.1, 0.5, 1.0, 2.0, 4.0):
        curves = FrameCurves(Curves(follow=follow))
        found = [local(flesh, row, flesh.shown(row, curves=curves)) for row in range(25, FRAMES)]
        left.append(np.mean([abs(flesh.director.swings.amounts(offsets)[0]) for offsets in found]))
    assert all(after > 1.15 * before for before, after in itertools.pairwise(left)), left


def test_follow_through_is_another_damping():
    # A free swing, once with its own and once with half the damping.
    own, other = SOFT, Oscillator(SOFT.omega, 0.5 * SOFT.zeta)
    start, fine = np.array([0.0, 0.1]), np.arange(0.0, 30.0, 1.0)
    truth = (other.transition(fine) @ start)[:, 0]
    shown = (own.transition(fine) @ start)[:, 0]
    answers = ringing([own], 2.0, FPS)[:, 0]
    changes = np.diff(shown, prepend=0.0)
    rung = shown + np.convolve(changes, answers)[: len(shown)]
    assert np.abs(rung - truth).max() < 0.06 * np.abs(truth).max()
    assert np.abs(shown - truth).max() > 0.25 * np.abs(truth).max()


def test_parts_have_their_own_curves_and_fade_out(flesh):
    shares = np.linspace(0.0, 1.0, POINTS)
    part = Region(Curves(exaggerate=3.0), shares)
    shown = flesh.shown(13, curves=FrameCurves(Curves(), (part,)))
    assert np.allclose(shown, flesh.frames[13] * (1.0 + 2.0 * shares[:, None]), atol=1e-5)
    over = Region(Curves(exaggerate=0.0), np.ones(POINTS), lies_over=True)
    shown = flesh.shown(13, curves=FrameCurves(Curves(), (over, part)))
    assert np.allclose(shown, 0.0, atol=1e-6)


def test_keys_are_passed_whatever_the_curves(flesh):
    keys = [flesh.key(20), flesh.key(29)]

    def curves(row):
        return FrameCurves(Curves(1.0 + 0.02 * row, 3.3 - 0.1 * row, 2.0))

    for key in keys:
        assert np.abs(flesh.shown(key.span.row, keys, curves) - flesh.placed(key)).max() < 1e-5


def test_a_flattened_pose_passes_what_it_can(flesh):
    flesh.poses[:, :, 2, :3] = 0.0
    flesh.maps[:, :, 2] = 0.0
    key = flesh.key(30)
    shown = np.stack([flesh.shown(row, [key], FrameCurves(Curves(2.0, 0.5, 2.0))) for row in range(FRAMES)])
    assert np.isfinite(shown).all()


# Dragging.


def test_a_handful_fades_out_and_leaves_the_rig_alone():
    points = np.column_stack([np.linspace(0.0, 1.0, 11), np.zeros(11), np.zeros(11)])
    flesh = np.ones(11)
    flesh[4] = 0.0
    share = handful(points, 5, 0.3, flesh)
    assert share[5] == 1.0 and share[4] == 0.0 and (share[[0, 1, 8, 9, 10]] == 0.0).all()
    assert 1.0 > share[6] > share[7] > 0.0
    assert not handful(points, 4, 0.0, flesh).any()
