"""The table of hostile scenes: each meets its expectation. A complete run writes `out/hostile.md`."""

from pathlib import Path

import pytest
from hostile import ROWS, trial

TABLE = Path(__file__).resolve().parents[2] / "out" / "hostile.md"


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


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_scene(row, tmp_path, outcomes):
    outcome = trial.run(row, tmp_path)
    outcomes.append(outcome)
    assert not outcome.problems, "\n".join(outcome.problems)
