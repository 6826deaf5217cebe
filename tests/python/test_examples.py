"""The examples run, and report their results."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "python"
# Plays a file from Blender, and is run by the tests of springs.
WITH_A_FILE = {"spring_bones.py"}


@pytest.mark.parametrize("name", sorted({path.name for path in EXAMPLES.glob("*.py")} - WITH_A_FILE))
def test_example(name, tmp_path):
    command = [sys.executable, str(EXAMPLES / name)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) > 3


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_an_example_explains_itself_instead_of_running(name, tmp_path):
    command = [sys.executable, str(EXAMPLES / name), "--help"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0 and result.stdout.startswith(f"usage: {name}"), result.stderr
    assert not list(tmp_path.iterdir())
