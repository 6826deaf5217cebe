"""The fitted frequency of a shot."""

import numpy as np
import pytest
from jounce_core import fitting
from jounce_core.fitting import Bounds, Reason
from jounce_core.motion_extent import Extent
from jounce_core.task import Step


def measured(size, strain=0.0):
    """An extent found in two steps."""
    yield Step(0.0, "")
    yield Step(0.5, "")
    return Extent(size, strain)


def run(search):
    """The result of a search, and its steps."""
    steps = []
    while True:
        try:
            steps.append(next(search))
        except StopIteration as stop:
            return stop.value, steps


def power_law(power, strain=0.0):
    """Extents in proportion to a power of the frequency: a size of 0.08 and a strain at 5 Hz."""

    def extent_at(frequency):
        share = (frequency / 5.0) ** power
        return measured(0.08 * share, strain * share)

    return extent_at


@pytest.mark.parametrize("power", [-2.0, -1.0, -3.0])
@pytest.mark.parametrize("wanted", [0.002, 0.04, 0.3])
def test_a_power_law_is_met(power, wanted):
    found, _ = run(fitting.fitted(power_law(power), Bounds(wanted)))
    if fitting.SOFTEST < found.frequency < fitting.FIRMEST:
        assert found.extent.size == pytest.approx(wanted, rel=fitting.NEAR - 1.0)
        assert found.reason is Reason.AMPLITUDE
    elif found.extent.size > wanted:
        assert (found.frequency, found.reason) == (fitting.FIRMEST, Reason.FIRMEST)
    else:
        assert (found.frequency, found.reason) == (fitting.SOFTEST, Reason.SOFTEST)


def test_calm_flesh_gets_softer_until_it_is_seen():
    found, _ = run(fitting.fitted(power_law(-2.0), Bounds(0.16, 0.48)))
    assert found.frequency < 5.0 and found.extent.size == pytest.approx(0.16, rel=0.05)


@pytest.mark.parametrize("strain", [0.3, 2.0])
def test_flesh_gets_no_softer_than_its_stretch_lets_it(strain):
    found, _ = run(fitting.fitted(power_law(-2.0, strain), Bounds(1.0, 0.48)))
    assert found.extent.strain == pytest.approx(0.48, rel=fitting.NEAR - 1.0)
    assert (found.frequency < 5.0) == (strain < 0.48) and found.reason is Reason.STRETCH


def test_flesh_that_may_stretch_gets_as_soft_as_it_can_be():
    found, _ = run(fitting.fitted(power_law(-1.0, 2.0), Bounds(1.0)))
    assert (found.frequency, found.reason) == (fitting.SOFTEST, Reason.SOFTEST)


def test_a_resonance_on_the_way_is_passed():
    def extent_at(frequency):
        share = frequency / 8.0
        return measured(0.1 / np.sqrt((1.0 - share**2) ** 2 + (0.24 * share) ** 2))

    found, _ = run(fitting.fitted(extent_at, Bounds(0.03)))
    assert found.extent.size == pytest.approx(0.03, rel=0.1)


def test_what_does_not_move_has_no_frequency():
    found, _ = run(fitting.fitted(lambda _: measured(0.0), Bounds(0.04, 0.48)))
    assert (found.frequency, found.reason) == (None, Reason.STILL)


def test_every_try_tells_how_far_it_is():
    _, steps = run(fitting.fitted(power_law(-1.0), Bounds(0.01)))
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
