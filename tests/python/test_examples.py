"""The examples run, and report their results."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"
# Plays a file from Blender, and is run by the tests of springs.
WITH_A_FILE = {"spring_bones.py"}
# Sizes in the source of an example, and smaller ones with which it shows the same in a default run.
SMALLER = {
    "baskets.py": ("ROWS, COLUMNS, APART = 16, 32,", "ROWS, COLUMNS, APART = 4, 8,"),
    "contact.py": ("resolution=10", "resolution=6"),
    "jellies.py": ("COUNT, EDGE, CELLS = 100,", "COUNT, EDGE, CELLS = 10,"),
    "jellies_touch.py": ("for n in range(5)", "for n in range(2)"),
}
NAMES = sorted({path.name for path in EXAMPLES.glob("*.py")} - WITH_A_FILE)


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.long) for name in SMALLER])
def test_a_large_example(name, tmp_path):
    assert_runs(EXAMPLES / name, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_example(name, tmp_path):
    source = (EXAMPLES / name).read_text(encoding="utf-8")
    size, smaller = SMALLER.get(name, ("", ""))
    assert source.count(size) == 1 or not size
    example = tmp_path / name
    example.write_text(source.replace(size, smaller), encoding="utf-8")
    assert_runs(example, tmp_path)


def assert_runs(example, folder):
    command = [sys.executable, str(example)]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) > 3


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example_explains_itself_instead_of_running(name, tmp_path):
    command = [sys.executable, str(EXAMPLES / name), "--help"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0 and result.stdout.startswith(f"usage: {name}"), result.stderr
    assert not list(tmp_path.iterdir())
