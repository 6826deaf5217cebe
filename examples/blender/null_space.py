"""Ten conditions a bone on each mode, as the draft has them, or four on the motion: for every character.

    python null_space.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 60]

Characters without a core of bone, their most energetic clips, against the full space with the four
conditions a bone that make its motion complementary to the rig. On the left, 16 skinning modes that
meet ten conditions a bone each, so that whatever they do is complementary: 192 displacements. On the
right, as many modes more as there are bones, that meet none, and of all that these do what is
complementary, the null space of the four conditions: also 192. What each leaves out of the shot is the
least error that it can have. The last row is the median.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters

COLUMNS = {
    "file": "{}",
    "bones": "{}",
    "tets": "{}",
    "left out, modes": "{:.0%}",
    "left out, null space": "{:.0%}",
    "error, modes": "{:.0%}",
    "error, null space": "{:.0%}",
}


def main() -> int:
    """Measure all and write the table."""
    options = characters.parser(__doc__).parse_args()
    rows = characters.run_all(Path(__file__).with_name("null_space_of.py"), options, COLUMNS)
    measured = [row for row in rows if "error, null space" in row]
    if measured:
        middle = {name: statistics.median(row[name] for row in measured) for name in list(COLUMNS)[3:]}
        text = characters.table([*rows, {"file": "median"} | middle], COLUMNS)
        options.out.write_text(text, encoding="utf-8")
    return sum(bool(row.get("failed")) for row in rows) if rows else 1


if __name__ == "__main__":
    sys.exit(main())
