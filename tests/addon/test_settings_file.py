"""Files of settings: text that is read back as it was written, and refusals of every other text."""

import json

import numpy as np
import pytest
from jounce_core.common.user_error import UserError
from jounce_core.storage import settings_file
from jounce_core.storage.settings_file import SettingsFile, settings_of, text_of

WHOLE = SettingsFile(
    meshes={"Body": "ab", "Coat": "cd"},
    body={"frequency": 4.25, "law": "CURVE", "use_limit": True, "velocity": [0.0, 1.0, 2.5]},
    law=[[0.0, -1.0, "AUTO"], [2.0, 1.0, "VECTOR"]],
    parts={"belly": {"amount": 1.5}},
    directions={"tail": {"lag": 2.0}},
    muscles=[{"muscle_group": "Muscle.001", "contraction": 0.5}],
    bones={"Spine": {"jounce_role": "FREE"}},
    materials=["Stahl"],
    rigid={"Coat": settings_file.ALL, "Body": "3-9 12"},
    stitches=[{"name": "Seam", "meshes": ["Body", "Coat"], "pairs": [[1, 2]], "settings": {"use": True}}],
    maps={"Pin": {"bones": {"Spine": 0.5}, "meshes": {"Body": {"1.0": "0-2"}}}},
)


def test_a_file_is_read_back_as_it_was_written(tmp_path):
    path = tmp_path / "fox.jounce.json"
    settings_file.write(path, WHOLE)
    assert settings_file.read(path) == WHOLE
    settings_file.write(path, SettingsFile({"Body": ""}, {}))
    assert settings_file.read(path) == SettingsFile({"Body": ""}, {})
    assert not list(tmp_path.glob("*.part"))


def test_each_value_has_a_line_of_its_own():
    lines = [line.strip().rstrip(",") for line in text_of(WHOLE).splitlines()]
    assert {'"frequency": 4.25', '"amount": 1.5', '"1.0": "0-2"', '"Body": "3-9 12"'} <= set(lines)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"kind": "x"}, "choose one saved by Jounce"),
        ({"version": 2}, "newer version"),
        ({"meshes": {}}, "names no mesh"),
        ({"meshes": ["Body"]}, "meshes has another form"),
        ({"body": {"frequency": None}}, "body, frequency has a value of another kind"),
        ({"body": {"frequency": [[1.0]]}}, "body, frequency"),
        ({"body": {"frequency": float("nan")}}, "body, frequency"),
        ({"law": [[0.0, 1.0]]}, "law has a row that has not 3 values"),
        ({"law": [[0.0, "1", "AUTO"]]}, "law has a value of another kind"),
        ({"law": [[0.0, 1.0, "ROUND"]]}, "law has no handle 'ROUND'"),
        ({"stitches": [WHOLE.stitches[0] | {"pairs": [[1, 2, 3]]}]}, "pairs has a row that has not 2"),
        ({"maps": {"Pin": {"bones": {}}}}, "maps, Pin lacks meshes"),
        ({"maps": {"Pin": {"bones": {}, "meshes": {"Body": {"1.0": 3}}}}}, "maps, Pin, meshes, Body, 1.0"),
        ({"stitches": [{"name": "Seam"}]}, "stitches lacks meshes"),
        ({"materials": "Stahl"}, "materials has another form"),
    ],
)
def test_texts_of_another_form_are_refused_with_the_place(change, told):
    text = json.dumps(json.loads(text_of(WHOLE)) | change)
    with pytest.raises(UserError, match=f"a.json.*{told}" if told else "a.json"):
        settings_of(text, "a.json")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", '{"kind": "Jounce settings"}'])
def test_other_texts_are_refused(text):
    with pytest.raises(UserError, match=r"a\.json"):
        settings_of(text, "a.json")


def test_a_foreign_file_is_not_replaced(tmp_path):
    thesis = tmp_path / "thesis.json"
    thesis.write_bytes(b"\xff\xfe mine")
    with pytest.raises(UserError, match="choose another name"):
        settings_file.write(thesis, WHOLE)
    assert thesis.read_bytes() == b"\xff\xfe mine"
    with pytest.raises(UserError, match="choose another folder"):
        settings_file.write(tmp_path / "none" / "fox.jounce.json", WHOLE)
    with pytest.raises(UserError, match="choose another file"):
        settings_file.read(tmp_path / "none.jounce.json")


@pytest.mark.parametrize("rows", [[], [0], [0, 1, 2], [3, 5, 6, 9], [1, 3, 5]])
def test_ranges_are_read_back(rows):
    assert settings_file.numbers(settings_file.ranges(np.array(rows, int)), 10, "x").tolist() == rows


@pytest.mark.parametrize("spans", ["10", "3-10", "a", "3-", "-3", "1-2-3", "1.5", "5-3", "²"])
def test_wrong_ranges_are_refused(spans):
    with pytest.raises(UserError, match="Pin has no range"):
        settings_file.numbers(spans, 10, "Pin")


def test_weights_are_read_back_to_the_bit():
    rng = np.random.default_rng(3)
    values = np.where(rng.random(500) < 0.3, np.nan, rng.random(500)).astype(np.float32)
    values[:100], values[200:210] = 1.0, 0.0
    kept = json.loads(json.dumps(settings_file.weights_of(values)))
    assert np.array_equal(settings_file.weights(kept, 500, "Pin"), values, equal_nan=True)


@pytest.mark.parametrize("weight", ["2", "-0.5", "nan", "much"])
def test_wrong_weights_are_refused(weight):
    with pytest.raises(UserError, match="Pin has the weight"):
        settings_file.weights({weight: "0"}, 3, "Pin")


@pytest.mark.parametrize("value", [0.12, 1.0 / 3.0, 1e-7, 4.25, 12345.678])
def test_numbers_are_short_and_keep_their_single_precision(value):
    single = float(np.float32(value))
    assert np.float32(settings_file.shortest(single)) == np.float32(value)
    assert len(str(settings_file.shortest(single))) <= 12
