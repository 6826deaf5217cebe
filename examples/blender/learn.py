"""Error of models learnt from a shot against the full space, for every character, as a table.

    python learn.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 120]

Characters at the defaults of *Add Jounce*, with their most energetic clips. Errors are those of the
displacement in the mass norm over the shot: of the draft, of 16, 32 and 64 displacements, of 64 with half and
twice the stiffness, and over the second half of 64 learnt from the first. Milliseconds are those of one step,
seconds those of learning 64. The last row is the median.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters

COLUMNS = {
    "file": "{}",
    "tets": "{}",
    "frames": "{}",
    "ms, full": "{:.1f}",
    "error, draft": "{:.0%}",
    "ms, draft": "{:.3f}",
    "error, 16": "{:.1%}",
    "error, 32": "{:.1%}",
    "error, 64": "{:.1%}",
    "ms, 64": "{:.3f}",
    "error, 64, half": "{:.0%}",
    "error, 64, double": "{:.0%}",
    "error, draft, half": "{:.0%}",
    "error, draft, double": "{:.0%}",
    "error, held out": "{:.0%}",
    "s, 64": "{:.2f}",
}
MEDIANS = [name for name in COLUMNS if name.startswith(("error", "ms", "s,"))]


if __name__ == "__main__":
    sys.exit(characters.tabulate(__doc__, __file__, COLUMNS, medians=MEDIANS))
