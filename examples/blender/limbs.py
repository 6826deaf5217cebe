"""Limbs against flesh: the final motion of every character with the capsules of its own bones, and without.

    python limbs.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 60]

The characters' most energetic clips at the defaults of *Add Jounce*, then *Final* and *Capsules of Bones*,
with nothing chosen by hand. The contact sheets go beside the table, into the folder `limbs`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters

COLUMNS = {
    "file": "{}",
    "capsules": "{}",
    "deepest, without": "{:.2%}",
    "deepest, with": "{:.2%}",
    "seen, without": "{}",
    "seen, with": "{}",
    "stretch, 99.9 percentile": "{:.0%}",
    "flipped triangles": "{:.3%}",
    "s a frame, free": "{:.2f}",
    "s a frame": "{:.2f}",
}


def main() -> int:
    """Measure all and write the table."""
    options = characters.parser(__doc__).parse_args()
    script = Path(__file__).with_name("limbs_of.py")
    sheets = ("--sheets", str(options.out.parent / "limbs"))
    rows = characters.run_all(script, options, COLUMNS, sheets)
    return sum(bool(row.get("failed")) for row in rows) if rows else 1


if __name__ == "__main__":
    sys.exit(main())
