"""Played animation, and its difference from the animation of a fit."""

from dataclasses import replace

from jounce_core.shot.fitted_action import Played, Track, difference, played

WALK = Track("Walk", (("location", 0), ("location", 1)), (1.0, 40.0))
RUN = replace(WALK, name="Run", frames=(1.0, 20.0))


def never():
    raise AssertionError("the keys are not asked for")


def test_nothing_is_said_of_what_plays_on():
    assert difference(played([WALK]), played([WALK]), never) == ""
    assert difference(played([WALK, RUN]), played([RUN, WALK]), never) == ""


def test_nothing_is_said_where_nothing_was_fitted_or_nothing_plays():
    assert difference(Played(), played([RUN]), never) == ""
    assert difference(played([RUN]), played([]), never) == ""


def test_another_action_is_named():
    expected = "Fitted to the action Walk; Run is played now."
    assert difference(played([WALK]), played([RUN]), never) == expected
    both = "Fitted to the action Walk; Run, Walk is played now."
    assert difference(played([WALK]), played([WALK, RUN]), never) == both


def test_a_name_alone_says_nothing():
    stroll = replace(WALK, name="Stroll")
    assert difference(played([WALK]), played([stroll]), lambda: True) == ""
    expected = "Fitted to the action Walk; Stroll is played now."
    assert difference(played([WALK]), played([stroll]), lambda: False) == expected


def test_other_channels_frames_or_places_of_one_name_are_said():
    expected = "Fitted to the action Walk, which keys other channels or frames now."
    for other in (
        replace(WALK, channels=(("location", 0),)),
        replace(WALK, frames=(1.0, 41.0)),
        replace(WALK, place=(10.0, 50.0, 1.0)),
    ):
        assert difference(played([WALK]), played([other]), never) == expected


def test_the_order_of_channels_does_not_matter():
    turned = replace(WALK, channels=WALK.channels[::-1])
    assert played([turned]) == played([WALK])
