"""The page of the five papers: every named test, benchmark, source and Python name is there."""

import functools
import re
from pathlib import Path

import jounce
import pytest
from jounce import operators

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/papers.md").read_text()
ROWS = [row.strip("|").split("|") for row in PAGE.splitlines() if row.startswith("| ")]
ROWS = [[cell.strip() for cell in row] for row in ROWS if not row[0].strip().startswith(("part", "---"))]


def test_each_row_has_all_columns():
    assert len(ROWS) > 80 and {len(row) for row in ROWS} == {7}
    assert all(row[4] and row[5] and row[6] for row in ROWS)


def test_what_is_claimed_is_measured():
    for row in ROWS:
        assert row[4] != "-" or row[5] == "-", row[0]


@pytest.mark.parametrize("named", sorted(set(re.findall(r"`([a-z]\w*::\w+)`", PAGE)) - {"file::function"}))
def test_each_named_test_is_there(named):
    file, function = named.split("::")
    sources = [*ROOT.glob(f"tests/*/{file}.py"), *ROOT.glob(f"tests/rust/tests/{file}.rs")]
    assert any(re.search(rf"(fn|def) {function}\(", source.read_text()) for source in sources), sources


@pytest.mark.parametrize("name", sorted(set(re.findall(r"bench `(\w+)`", PAGE))))
def test_each_benchmark_is_there(name):
    folder = ROOT / "rust/core/benches"
    assert (folder / f"{name}.rs").is_file() or (folder / name).is_dir()


def test_each_source_and_name_is_there():
    for row in ROWS:
        for path in re.findall(r"`([a-z_/]+(?:\.rs)?)`", row[1]):
            assert (ROOT / "rust/core/src" / path).exists(), path
        for name in re.findall(r"`([\w.]+)", row[2]):
            owner = operators if name.startswith("operators.") else jounce
            functools.reduce(getattr, name.removeprefix("operators.").split("."), owner)
