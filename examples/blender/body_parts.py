"""Motion of body parts: every character at the defaults of *Add Jounce*, with a contact sheet of each.

    python body_parts.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 60]

The clips are the characters' most energetic ones, without any manual choice. *Hands, feet, heads* and *hips,
spine*, *thighs* are found by bone names. The contact sheets are written to the folder `sheets` beside the
table.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters

HEADING = """# What moves where, measured

Made by `cargo x sheets`: twenty characters that nobody tuned to, each with the 60 frames of its clips
that accelerate most, at the defaults of *Add Jounce*. Of hands, feet, heads, hips with spine, and
thighs, found by the names of bones, all but a tenth of the vertices stay below the number, in percent
of the size; parts that a rig does not name so are left out. *Lively*: how far a mass on a damped spring
of the body's frequency would lag behind that part, which says how lively the clip is there. Stretch is of
edges against the posed mesh, flipped triangles turn inside out, both in the worst frame; jitter is the
second difference of the displacement that all but a hundredth stay below.

"""
COLUMNS = {
    "file": "{}",
    "hands": "{:.2%}",
    "feet": "{:.2%}",
    "head": "{:.2%}",
    "hips, spine": "{:.2%}",
    "thighs": "{:.2%}",
    "hips, spine, lively": "{:.2%}",
    "thighs, lively": "{:.2%}",
    "largest": "{:.1%}",
    "stretch, 99.9 percentile": "{:.0%}",
    "largest stretch": "{:.0%}",
    "flipped triangles": "{:.3%}",
    "jitter": "{:.2%}",
    "frequency": "{:.2g} Hz",
    "add s": "{:.1f}",
}


if __name__ == "__main__":
    sys.exit(characters.tabulate(__doc__, __file__, COLUMNS, heading=HEADING, sheets="sheets"))
