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


if __name__ == "__main__":
    sys.exit(characters.tabulate(__doc__, __file__, COLUMNS, medians=list(COLUMNS)[3:]))
