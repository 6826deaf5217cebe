"""How far the reduced motion of every character is from the full space: clusters beside cubature, as a table.

    python full_space.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 30]

Characters at the defaults of *Add Jounce*, their most energetic clips. The error is that of the displacement
in the mass norm over the shot, size how large the motion is beside that of the full space, milliseconds what
one step takes. The last row is the median.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters

COLUMNS = {
    "file": "{}",
    "vertices": "{}",
    "pinned": "{:.0%}",
    "frequency": "{:.2g} Hz",
    "clusters": "{}",
    "error, clusters": "{:.0%}",
    "size, clusters": "{:.2f}",
    "ms, clusters": "{:.3f}",
    "tets": "{}",
    "error, cubature": "{:.0%}",
    "size, cubature": "{:.2f}",
    "ms, cubature": "{:.3f}",
    "training s": "{:.2f}",
}
MEDIANS = [name for name in COLUMNS if name.startswith(("error", "size", "training"))]


def main() -> int:
    """Measure all and write the table."""
    options = characters.parser(__doc__).parse_args()
    rows = characters.run_all(Path(__file__).with_name("full_space_of.py"), options, COLUMNS)
    measured = [row for row in rows if "error, cubature" in row]
    if measured:
        middle = {name: statistics.median(row[name] for row in measured) for name in MEDIANS}
        text = characters.table([*rows, {"file": "median"} | middle], COLUMNS)
        options.out.write_text(text, encoding="utf-8")
    return sum(bool(row.get("failed")) for row in rows) if rows else 1


if __name__ == "__main__":
    sys.exit(main())
