"""Shares of vertices as text."""

import numpy as np
import pytest
from jounce_core.mesh import shares


def test_shares_survive_as_text():
    values = np.array([0.0, 0.1, 0.5, 1.0])
    assert np.abs(shares.unpacked(shares.packed(values), 4) - values).max() <= 0.5 / shares.STEPS


def test_shares_of_another_mesh_are_none():
    assert not shares.unpacked(shares.packed(np.ones(4)), 5).any()
    assert not shares.unpacked("", 3).any()


@pytest.mark.parametrize("text", ["3 high", "x", "7 ", "5" + shares.packed(np.ones(4))[1:], "4 é"])
def test_other_text_is_told(text):
    assert shares.is_packed(shares.packed(np.ones(4))) and shares.is_packed("")
    assert not shares.is_packed(text)
