"""Presets of parts, ours and hostile ones."""

from pathlib import Path

import pytest
from jounce_core.common import preset_values

SHIPPED = Path(__file__).resolve().parents[2] / "addon" / "presets" / "operator" / "jounce.part_add"
NAMES = dict.fromkeys(("amount", "softness"), float)


@pytest.mark.parametrize("path", sorted(SHIPPED.glob("*.py")), ids=lambda path: path.stem)
def test_ours_give_every_setting(path):
    values = preset_values.values(path.read_text(), NAMES)
    assert values.keys() == NAMES.keys()
    assert 0.0 <= values["amount"] <= 3.0 and 0.25 <= values["softness"] <= 4.0


def test_an_artists_own_come_beside_ours_and_before_equal_ones(tmp_path):
    (tmp_path / "belly.py").write_text("op.softness = 0.9")
    (tmp_path / "big_nose.py").write_text("op.softness = 0.2")
    found = preset_values.found([str(tmp_path / "missing"), str(tmp_path), str(SHIPPED)])
    assert found["Belly"] == tmp_path / "belly.py"
    assert {"Big Nose", "Heavy Coat", "Tail"} <= found.keys()


@pytest.mark.parametrize(
    "text",
    [
        "op.softness = __import__('os').system('x')",
        "op.softness = 'soft'",
        "op.secret = 1.0",
        "not (python",
        "\0",
    ],
)
def test_nothing_but_numbers_for_known_settings_is_read(text):
    assert preset_values.values(text, NAMES) == {}


def test_each_value_is_of_the_kind_of_its_setting():
    kinds = {"number": float, "word": str, "switch": bool}
    text = "op.number = 3\nop.word = 'a'\nop.switch = True"
    assert preset_values.values(text, kinds) == {"number": 3.0, "word": "a", "switch": True}
    assert preset_values.values("op.number = 'a'\nop.word = 1\nop.switch = 1.0", kinds) == {}
