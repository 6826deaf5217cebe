"""Settings of parts as they reach a build."""

import pytest
from jounce_core.rig.bone_core import PartSetting
from jounce_core.rig.part_settings import LABELS, PartRow, acting


def test_parts_by_default_ask_for_nothing():
    assert acting([PartRow(name) for name in LABELS]) == ()


def test_only_changed_parts_are_named_in_one_order():
    belly, ears = PartRow("belly", amount=2.0), PartRow("ears", softness=0.5)
    expected = (PartSetting("belly", 1.0, 2.0), PartSetting("ears", 0.5, 1.0))
    assert acting([belly, ears, PartRow("chest")]) == acting([ears, belly]) == expected


@pytest.mark.parametrize(
    ("settings", "silent"),
    [
        ([PartRow("belly", mute=True), PartRow("chest")], {"belly"}),
        ([PartRow("belly", solo=True), PartRow("chest"), PartRow("rest")], {"chest", "rest"}),
        ([PartRow("belly", solo=True, mute=True), PartRow("chest")], {"belly", "chest"}),
        ([PartRow("belly", solo=True), PartRow("chest", solo=True)], set()),
    ],
)
def test_a_muted_part_and_those_beside_a_solo_one_feel_nothing(settings, silent):
    assert {setting.name for setting in acting(settings) if setting.amount == 0.0} == silent


def test_settings_of_a_fit_are_multiplied():
    rows = [PartRow("belly", 2.0, 0.5, fitted=(1.5, 4.0)), PartRow("chest", amount=2.0, fitted=(1.0, 2.0))]
    assert acting(rows) == (PartSetting("belly", 3.0, 2.0), PartSetting("chest", 1.0, 3.0))
    assert acting([PartRow("belly", mute=True, fitted=(1.0, 2.0))]) == (PartSetting("belly", 1.0, 0.0),)
