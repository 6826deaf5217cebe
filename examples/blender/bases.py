"""How near a body comes to the full space in displacements that have not seen the shot, for every character.

    python bases.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 120]

Characters at the defaults of *Add Jounce*, their most energetic clips. Errors are those of the displacement
in the mass norm over the shot, without limits: of the draft, and of 60 displacements of each kind, with
forces at 120 tets and at all of them. What 60 and 192 displacements leave out of the shot is the least error
that they can have. Milliseconds are those of one step. The last row is the median.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters

NAMES = ("skinning", "Laplacian", "linear", "bent")
COLUMNS = {
    "file": "{}",
    "tets": "{}",
    "error, draft": "{:.0%}",
    "ms, draft": "{:.3f}",
    **{
        f"{what}, {name}": form
        for name in NAMES
        for what, form in (("left out", "{:.0%}"), ("all", "{:.0%}"), ("error", "{:.0%}"), ("ms", "{:.3f}"))
    },
    "left out, skinning, 192": "{:.0%}",
    "left out, Laplacian, 192": "{:.0%}",
}
MEDIANS = [name for name in COLUMNS if name not in ("file", "tets")]


def main() -> int:
    """Measure all and write the table."""
    options = characters.parser(__doc__).parse_args()
    rows = characters.run_all(Path(__file__).with_name("bases_of.py"), options, COLUMNS)
    measured = [row for row in rows if "left out, Laplacian, 192" in row]
    if measured:
        middle = {name: statistics.median(row[name] for row in measured) for name in MEDIANS}
        text = characters.table([*rows, {"file": "median"} | middle], COLUMNS)
        options.out.write_text(text, encoding="utf-8")
    return sum(bool(row.get("failed")) for row in rows) if rows else 1


if __name__ == "__main__":
    sys.exit(main())
