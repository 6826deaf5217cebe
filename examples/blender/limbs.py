"""Limbs against flesh: the final motion of every character with and without the capsules of its bones.

    python limbs.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 60]

The clips are the characters' most energetic ones at the defaults of *Add Jounce*, then *Final* and *Capsules
of Bones*, without any manual choice. The contact sheets are written to the folder `limbs` beside the table.
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
    "loose, with": "{}",
    "stretch, 99.9 percentile": "{:.0%}",
    "flipped triangles": "{:.3%}",
    "s a frame, free": "{:.2f}",
    "s a frame": "{:.2f}",
}


if __name__ == "__main__":
    sys.exit(characters.tabulate(__doc__, __file__, COLUMNS, sheets="limbs"))
