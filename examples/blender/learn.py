"""How far what is learnt from a shot is from the full space, for every character, as a table.

    python learn.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 120]

Characters at the defaults of *Add Jounce*, their most energetic clips. Errors are those of the
displacement in the mass norm over the shot: of the draft, of 16, 32 and 64 displacements, of 64 with
half and twice the stiffness, and of 64 learnt from the first half over the second. Milliseconds are
those of one step, seconds those of learning 64. The last row is the median.
"""

from __future__ import annotations

import statistics
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


def main() -> int:
    """Measure all and write the table."""
    options = characters.parser(__doc__).parse_args()
    rows = characters.run_all(Path(__file__).with_name("learn_of.py"), options, COLUMNS)
    measured = [row for row in rows if "error, held out" in row]
    if measured:
        middle = {name: statistics.median(row[name] for row in measured) for name in MEDIANS}
        text = characters.table([*rows, {"file": "median"} | middle], COLUMNS)
        options.out.write_text(text, encoding="utf-8")
    return sum(bool(row.get("failed")) for row in rows) if rows else 1


if __name__ == "__main__":
    sys.exit(main())
