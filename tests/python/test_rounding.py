"""Rounding errors do not grow: a body perturbed by rounding moves alike, as on another processor."""

import motions
import numpy as np
import pytest

# A hundred times the rounding of a number.
ROUNDING = 1e-14


def rounded(count: int) -> np.ndarray:
    return 1e4 * (1 + ROUNDING * np.random.default_rng(0).uniform(-1, 1, count))


@pytest.mark.parametrize("name", motions.BODIES)
def test_rounding_errors_do_not_grow(name: str):
    motion = motions.motion(name)
    assert np.abs(motion).max() > 0.05
    assert np.abs(motions.motion(name, rounded) - motion).max() < motions.TOLERANCE
