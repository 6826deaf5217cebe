"""Swings of soft parts after a hop that ends in a held pose, at the defaults of *Add Jounce*."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import bounces
import character as characters
import creature

RESOLUTION = 40


@pytest.fixture(scope="module")
def hopped(package):
    """The hop of the creature, which has a belly, ears and a tail."""
    creature.build(RESOLUTION)
    return bounces.hopped(package.__name__, characters.find("creature"), {})


def test_a_belly_and_a_tail_swing_and_rest_and_the_tip_of_a_tail_follows_its_base(hopped):
    turns = [value for _, value in hopped.extremes("belly")]
    # Measured: 1.6 percent of the size, on a finer skin too, then 1, -.56, .27. The tail swings three times
    # as far, and takes nothing from it.
    assert turns[0] > 0.012
    assert sum(abs(value) > bounces.SEEN * turns[0] for value in turns) >= 2
    assert abs(turns[-1]) < 0.05 * turns[0]
    turns = [value for _, value in hopped.extremes("tail")]
    # Measured: 5.9 percent of the size, then 1, -.84, .5, -.3, .2; the tip is .35 frames late.
    assert turns[0] > 0.02
    assert sum(abs(value) > bounces.SEEN * turns[0] for value in turns) >= 3
    assert 0.1 < hopped.late("tail") < 4.0


def test_a_belly_that_swings_keeps_its_volume(hopped):
    # Measured: 4.9 percent, in the frame of the stop. The flesh resists a change of lengths, and of volume
    # only by them.
    assert hopped.volume_change("belly") < 0.06
