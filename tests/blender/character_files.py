"""Characters of the larger tests, in the folder that `JOUNCE_DATA` names; any of them may be missing."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("JOUNCE_DATA", "/nowhere"))


def needs(*names):
    """Mark that skips a test without these files, and names the missing ones."""
    missing = [name for name in names if not (DATA / name).is_file()]
    return pytest.mark.skipif(bool(missing), reason=f"JOUNCE_DATA has no {', '.join(missing)}")


def each(rows):
    """Parameters of a test, each of which needs the file that it begins with."""
    rows = [(row,) if isinstance(row, str) else row for row in rows]
    return [pytest.param(*row, marks=needs(row[0])) for row in rows]
