"""Runs the Python examples of the READMEs, the repository's and the package's, and of the tutorial."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def python_blocks(name: str) -> list[str]:
    pieces = (ROOT / name).read_text(encoding="utf-8").split("```python\n")[1:]
    return [piece.split("```")[0] for piece in pieces]


@pytest.mark.parametrize("name", ["README.md", "rust/python/README.md", "docs/tutorials/python.md"])
def test_examples_run(name: str):
    blocks = python_blocks(name)
    assert blocks
    names: dict[str, object] = {}
    for source in blocks:
        exec(compile(source, name, "exec"), names)
