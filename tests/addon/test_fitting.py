"""The fitted frequency of a shot."""

import numpy as np
import pytest
from jounce_core.common.task import Step
from jounce_core.shot import fitting
from jounce_core.shot.fitting import Bounds, Reason
from jounce_core.shot.motion_extent import Extent


def measured(size, strain=0.0, wildest=0):
    """An extent found in two steps."""
    yield Step(0.0, "")
    yield Step(0.5, "")
    return Extent(size, strain, wildest)


def run(search):
    """The result of a search, and its steps."""
    steps = []
    while True:
        try:
            steps.append(next(search))
        except StopIteration as stop:
            return stop.value, steps


def power_law(power, strain=0.0, wildest=0):
    """Extents in proportion to a power of the free motion: a size of 0.08 and a strain at an ease of 0."""

    def extent_at(tuning):
        share = (tuning.amount * (fitting.NATURAL / tuning.frequency) ** 2) ** power
        return measured(0.08 * share, strain * share, wildest)

    return extent_at


@pytest.mark.parametrize("power", [1.0, 0.5, 1.5])
@pytest.mark.parametrize("wanted", [0.002, 0.04, 0.3])
def test_a_power_law_is_met(power, wanted):
    found, _ = run(fitting.fitted(power_law(power), Bounds(wanted)))
    if fitting.HARDEST < found.ease < fitting.EASIEST:
        assert found.extent.size == pytest.approx(wanted, rel=fitting.NEAR - 1.0)
        assert found.reason is Reason.AMPLITUDE
    elif found.extent.size > wanted:
        assert (found.ease, found.reason) == (fitting.HARDEST, Reason.FIRMEST)
    else:
        assert (found.ease, found.reason) == (fitting.EASIEST, Reason.SOFTEST)


def test_an_ease_is_frequency_and_amount_until_either_ends():
    eases = np.linspace(fitting.HARDEST, fitting.EASIEST, 30)
    tunings = [fitting.tuning(ease) for ease in eases]
    free = [tuning.amount * (fitting.NATURAL / tuning.frequency) ** 2 for tuning in tunings]
    assert free == pytest.approx(np.exp(eases))
    natural = fitting.tuning(0.0)
    assert (natural.frequency, natural.amount) == (fitting.NATURAL, 1.0)
    doubled = fitting.tuning(np.log(2.0))
    assert doubled.amount == pytest.approx(2.0**fitting.FORCED) and doubled.amount < fitting.FREED
    halved = fitting.tuning(-np.log(2.0))
    assert halved.amount == pytest.approx(0.5**fitting.HELD) and halved.amount > fitting.CALMED
    assert (tunings[0].frequency, tunings[0].amount) == pytest.approx((fitting.FIRMEST, fitting.CALMED))
    assert (tunings[-1].frequency, tunings[-1].amount) == pytest.approx((fitting.SOFTEST, fitting.FREED))


def response(tuning, shaking, damping=0.12):
    """Motion of flesh beside a rig that shakes at a frequency, Hz, relative to the rig's."""
    ratio = shaking / tuning.frequency
    return tuning.amount * ratio**2 / np.hypot(1.0 - ratio**2, 2.0 * damping * ratio)


def test_calm_flesh_is_woken_by_softness_more_than_by_force_which_shakes_it():
    tuning = fitting.tuning(np.log(3.0))
    assert response(tuning, 0.3) == pytest.approx(3.0 * response(fitting.tuning(0.0), 0.3), rel=0.05)
    # Relative to the rig, flesh that stays where it is moves as far as the rig.
    assert response(tuning, 10.0) < 1.25


def test_calm_flesh_gets_softer_until_it_is_seen():
    found, _ = run(fitting.fitted(power_law(1.0), Bounds(0.16, 0.48)))
    assert found.tuning.frequency < fitting.NATURAL and found.tuning.amount > 1.0
    assert found.extent.size == pytest.approx(0.16, rel=0.05)


@pytest.mark.parametrize("strain", [0.3, 2.0])
def test_flesh_gets_no_softer_than_its_stretch_lets_it(strain):
    found, _ = run(fitting.fitted(power_law(1.0, strain), Bounds(1.0, 0.48)))
    assert found.extent.strain == pytest.approx(0.48, rel=fitting.NEAR - 1.0)
    assert (found.ease > 0.0) == (strain < 0.48) and found.reason is Reason.STRETCH


def test_flesh_that_may_stretch_gets_as_soft_as_it_can_be():
    found, _ = run(fitting.fitted(power_law(0.5, 2.0), Bounds(1.0)))
    assert (found.ease, found.reason) == (fitting.EASIEST, Reason.SOFTEST)


def test_a_resonance_on_the_way_is_passed():
    def extent_at(tuning):
        share = tuning.frequency / 4.0
        return measured(0.1 * tuning.amount / np.sqrt((1.0 - share**2) ** 2 + (0.24 * share) ** 2))

    found, _ = run(fitting.fitted(extent_at, Bounds(0.03)))
    assert found.extent.size == pytest.approx(0.03, rel=0.1)


def test_what_the_rig_stretches_makes_nothing_firmer():
    def extent_at(tuning):
        return measured(0.02 * tuning.amount, 0.7)

    found, _ = run(fitting.fitted(extent_at, Bounds(1.0, 0.4), start=0.3))
    assert (found.ease, found.reason) == (0.3, Reason.RIG)


def test_wild_clips_begin_with_firm_flesh_and_calm_ones_with_natural():
    bounds = Bounds(0.035, 0.36)
    assert fitting.begun(Extent(0.02, 0.2), bounds) == 0.0
    assert fitting.begun(Extent(0.035 * np.exp(3.0), 0.2), bounds) == pytest.approx(-2.4)
    assert fitting.begun(Extent(0.02, 0.36 * np.exp(2.0)), bounds) == pytest.approx(-1.0)
    assert fitting.begun(Extent(1e9, 0.0), bounds) == fitting.HARDEST


def test_a_motion_grows_until_it_fills_its_bound_or_cannot_be_softer():
    bounds = Bounds(0.04, 0.4)
    assert fitting.growth(0.0, Extent(0.02, 0.9), bounds) == pytest.approx(2.0)
    softest = fitting.growth(fitting.EASIEST - 1.0, Extent(0.001, 0.1), bounds)
    assert softest == pytest.approx(np.exp(fitting.SLOPE))


def test_what_does_not_move_has_no_frequency():
    found, _ = run(fitting.fitted(lambda _: measured(0.0), Bounds(0.04, 0.48)))
    assert (found.ease, found.tuning, found.reason) == (None, None, Reason.STILL)


@pytest.mark.parametrize(("motion", "reason"), [(4e-5, Reason.SOFTEST), (4e-6, Reason.STILL)])
def test_a_calm_clip_is_fitted_if_the_softest_flesh_moves_in_it(motion, reason):
    def extent_at(tuning):
        return measured(motion * tuning.amount * (fitting.NATURAL / tuning.frequency) ** 2)

    found, _ = run(fitting.fitted(extent_at, Bounds(1.0)))
    assert found.reason is reason


def test_every_try_tells_how_far_it_is():
    _, steps = run(fitting.fitted(power_law(0.5), Bounds(0.01)))
    fractions = [step.fraction for step in steps]
    assert len(fractions) > 4
    assert fractions == sorted(fractions) and fractions[0] >= 0.0 and fractions[-1] < 1.0


def test_stopped_it_stops_the_try_that_runs():
    tries = []

    def extent_at(_):
        tries.append(measured(0.08))
        return tries[-1]

    search = fitting.fitted(extent_at, Bounds(0.01))
    for _ in range(3):
        next(search)
    search.close()
    assert [tried.gi_frame for tried in tries] == [None, None]
