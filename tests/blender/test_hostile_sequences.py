"""Random sequences of operators and of an artist's changes end in the file of the artist alone.

`JOUNCE_SEQUENCES` is their number; each can be played again from its seed.
"""

import os

import pytest
from hostile import sequences

COUNT = int(os.environ.get("JOUNCE_SEQUENCES", "20"))


@pytest.mark.parametrize("seed", range(COUNT))
def test_sequence(seed, tmp_path):
    found = sequences.sequence(seed)
    if sequences.problems(found, tmp_path / "all"):
        short = sequences.shrunk(found, tmp_path)
        steps = ", ".join(f"{step.name} {step.number}" for step in short.steps)
        lines = sequences.problems(short, tmp_path / "short")
        pytest.fail("\n".join([f"seed {seed}, {short.characters} characters: {steps}", *lines]))
