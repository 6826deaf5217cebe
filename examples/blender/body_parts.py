"""Motion of every character at the defaults of *Add Jounce*, measured by parts, with a sheet of each.

    python body_parts.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 60]

Clips are the characters' most energetic ones, with nothing chosen by hand. Parts are found by the names of
bones. The contact sheets go into the folder `sheets` beside the table.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters

HEADING = """# What moves where, measured

Made by `cargo x sheets`: twenty characters, each with the 60 frames of its clips that accelerate most, the
final motion at the defaults of *Add Jounce*. *Seen*: how far off the pose the hundredth of the vertices
that moves most is, averaged over it and over the frames, in a picture in which the character's longest side
has 864 pixels; *where* names the bone that most of them hang on. Of hands, feet, heads, hips with spine,
the rib cage (of these the half towards the head), thighs, ears and tails, found by the names of bones, all
but a tenth of the vertices stay below the number, in percent of the size; parts that a rig does not name so
are left out. *Lively*: how far a mass on a damped spring of the body's frequency would lag behind that
part, which says how lively the clip is there. Stretch is of edges against the posed mesh, flipped triangles
turn inside out, both in the worst frame; jitter is the second difference of the displacement that all but a
hundredth stay below.

"""
COLUMNS = {
    "file": "{}",
    "seen": "{:.1f} px",
    "where": "{}",
    "hands": "{:.2%}",
    "feet": "{:.2%}",
    "head": "{:.2%}",
    "hips, spine": "{:.2%}",
    "rib cage": "{:.2%}",
    "thighs": "{:.2%}",
    "ears, tails": "{:.2%}",
    "hips, spine, lively": "{:.2%}",
    "thighs, lively": "{:.2%}",
    "largest": "{:.1%}",
    "stretch, 99.9 percentile": "{:.0%}",
    "largest stretch": "{:.0%}",
    "flipped triangles": "{:.3%}",
    "jitter": "{:.2%}",
    "frequency": "{:.2g} Hz",
    "amount": "{:.2g}",
    "add s": "{:.1f}",
}
MEDIANS = ("seen", "hips, spine", "rib cage", "thighs", "stretch, 99.9 percentile", "jitter", "add s")


if __name__ == "__main__":
    sys.exit(
        characters.tabulate(__doc__, __file__, COLUMNS, medians=MEDIANS, heading=HEADING, sheets="sheets")
    )
