"""The fitted frequency of a shot."""

import numpy as np
import pytest
from jounce_core import fitting
from jounce_core.task import Step
from jounce_core.user_error import UserError


def measured(size):
    """A size found in two steps."""
    yield Step(0.0, "")
    yield Step(0.5, "")
    return size


def run(search):
    """The result of a search, and its steps."""
    steps = []
    while True:
        try:
            steps.append(next(search))
        except StopIteration as stop:
            return stop.value, steps


def power_law(power):
    """Sizes in proportion to a power of the frequency."""
    return lambda frequency: measured(0.08 * (frequency / 5.0) ** power)


@pytest.mark.parametrize("power", [-2.0, -1.0, -3.0])
@pytest.mark.parametrize("wanted", [0.002, 0.04, 0.3])
def test_a_power_law_is_met(power, wanted):
    (frequency, size), _ = run(fitting.fitted(power_law(power), wanted, 5.0))
    if fitting.SLOWEST < frequency < fitting.FASTEST:
        assert size == pytest.approx(wanted, rel=fitting.NEAR - 1.0)
    else:
        assert (size > wanted) == (frequency == fitting.FASTEST)


def test_a_resonance_on_the_way_is_passed():
    def size_at(frequency):
        share = frequency / 8.0
        return measured(0.1 / np.sqrt((1.0 - share**2) ** 2 + (0.24 * share) ** 2))

    (_, size), _ = run(fitting.fitted(size_at, 0.03, 5.0))
    assert size == pytest.approx(0.03, rel=0.1)


def test_what_does_not_move_cannot_be_fitted():
    with pytest.raises(UserError, match="Nothing moves the body"):
        run(fitting.fitted(lambda _: measured(0.0), 0.04, 5.0))


def test_where_only_firmer_is_wanted_calm_flesh_stays():
    assert run(fitting.fitted(power_law(-2.0), 0.1, 5.0, only_firmer=True))[0] == (5.0, 0.08)
    assert run(fitting.fitted(lambda _: measured(0.0), 0.1, 5.0, only_firmer=True))[0] == (5.0, 0.0)
    assert run(fitting.fitted(power_law(-2.0), 0.04, 5.0, only_firmer=True))[0][0] > 5.0


def test_every_try_tells_how_far_it_is():
    _, steps = run(fitting.fitted(power_law(-1.0), 0.01, 5.0))
    fractions = [step.fraction for step in steps]
    assert len(fractions) > 4
    assert fractions == sorted(fractions) and fractions[0] >= 0.0 and fractions[-1] < 1.0


def test_stopped_it_stops_the_try_that_runs():
    tries = []

    def size_at(_):
        tries.append(measured(0.08))
        return tries[-1]

    search = fitting.fitted(size_at, 0.01, 5.0)
    for _ in range(3):
        next(search)
    search.close()
    assert [tried.gi_frame for tried in tries] == [None, None]
