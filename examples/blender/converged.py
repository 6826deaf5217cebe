"""Accuracy of final flesh at several tolerances on every character: substeps against precise ones.

    python converged.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 60]

Characters at the defaults of *Add Jounce*, with their most energetic clips. Errors are those of a substep
from the state of a precise run, as shares of the displacement in the mass norm. *Within* is the share of
errors below a thousandth; *of the move* is the same relative to the flesh's motion in the substep.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters

EACH = {
    "iterations": "{:.1f}",
    "ms": "{:.1f}",
    "median": "{:.1e}",
    "90 %": "{:.1e}",
    "largest": "{:.1e}",
    "within": "{:.0%}",
    "of the move": "{:.0%}",
}
COLUMNS = {"file": "{}", "vertices": "{}", "tets": "{}"} | {
    f"{name}, {tolerance}": form
    for tolerance in ("1e-05", "3e-06", "1e-06", "1e-07", "1e-08")
    for name, form in EACH.items()
}


if __name__ == "__main__":
    sys.exit(characters.tabulate(__doc__, __file__, COLUMNS))
