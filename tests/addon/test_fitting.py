"""The frequency that a shot needs."""

import numpy as np
import pytest
from jounce_core import fitting
from jounce_core.refusal import Refusal


@pytest.mark.parametrize("power", [-2.0, -1.0, -3.0])
@pytest.mark.parametrize("wanted", [0.002, 0.04, 0.3])
def test_a_power_law_is_met(power, wanted):
    frequency, size = fitting.fitted(lambda f: 0.08 * (f / 5.0) ** power, wanted, 5.0)
    if fitting.SLOWEST < frequency < fitting.FASTEST:
        assert size == pytest.approx(wanted, rel=fitting.NEAR - 1.0)
    else:
        assert (size > wanted) == (frequency == fitting.FASTEST)


def test_a_resonance_on_the_way_is_passed():
    def size_at(frequency):
        return 0.1 / np.sqrt((1.0 - (frequency / 8.0) ** 2) ** 2 + (0.24 * frequency / 8.0) ** 2)

    _, size = fitting.fitted(size_at, 0.03, 5.0)
    assert size == pytest.approx(0.03, rel=0.1)


def test_what_does_not_move_cannot_be_fitted():
    with pytest.raises(Refusal, match="Nothing moves the body"):
        fitting.fitted(lambda _: 0.0, 0.04, 5.0)
