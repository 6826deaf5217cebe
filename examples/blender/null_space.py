"""Complementarity by ten conditions per bone on each mode, or by four on the motion, per character.

    python null_space.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 60]

Characters without a skeleton core, with their most energetic clips, against the full space with the four
conditions per bone that make its motion complementary to the rig. On the left, 16 skinning modes that satisfy
ten conditions per bone each, so that any of their motions is complementary: 192 displacements. On the right,
unconstrained modes, more by the number of bones, restricted to the null space of the four conditions: also
192 displacements. The part of the shot outside each basis is its smallest possible error. The last row is the
median.
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
