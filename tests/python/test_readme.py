"""The README's Python examples run as they stand."""

from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def python_blocks() -> list[str]:
    pieces = README.read_text(encoding="utf-8").split("```python\n")[1:]
    return [piece.split("```")[0] for piece in pieces]


def test_the_readme_has_examples():
    assert python_blocks()


@pytest.mark.parametrize("source", python_blocks())
def test_example_runs(source: str):
    exec(compile(source, str(README), "exec"), {})
