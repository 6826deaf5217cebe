"""The table of hostile scenes: each meets its expectation. A complete run writes `out/hostile.md`."""

from pathlib import Path

import pytest
from hostile import ROWS, trial

TABLE = Path(__file__).resolve().parents[2] / "out" / "hostile.md"
# A default run plays every fourth scene, from each subject several.
ONE_IN = 4


@pytest.fixture(scope="module")
def outcomes():
    """Results of each scene; after all scenes the table is written."""
    found = []
    yield found
    if len(found) == len(ROWS):
        TABLE.parent.mkdir(exist_ok=True)
        TABLE.write_text(table(found), encoding="utf-8")
        print(table(found))


def table(found):
    """The outcomes as a page of Markdown."""
    cells = [
        (each.row.subject, each.row.sentence, each.row.expected, each.found.replace("|", "\\|"))
        for each in found
    ]
    head = ("subject", "scene", "expected", "found")
    lines = [f"| {' | '.join(row)} |" for row in (head, ("---",) * 4, *cells)]
    return "\n".join([f"# {len(found)} hostile scenes", "", *lines, ""])


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(row, id=row.name, marks=[] if number % ONE_IN == 0 else pytest.mark.long)
        for number, row in enumerate(ROWS)
    ],
)
def test_scene(row, tmp_path, outcomes):
    outcome = trial.run(row, tmp_path)
    outcomes.append(outcome)
    assert not outcome.problems, "\n".join(outcome.problems)
