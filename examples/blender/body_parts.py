"""Motion of every character at the defaults of *Add Jounce*, measured by parts, with a sheet of each.

    python body_parts.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 60]

Clips are the characters' most energetic ones, repeated if short, with nothing chosen by hand. Parts are
found by the names of bones. The contact sheets go into the folder `sheets` beside the table.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters

HEADING = """# What moves where, measured

Made by `cargo x sheets`: the final motion of twenty characters at the defaults of *Add Jounce*, in the 60
liveliest frames of each character's clips. A shorter clip that ends in its first pose repeats, as in a game;
another is followed by its held last pose. *Seen*: mean distance from the pose, over the frames and the most
mobile hundredth of the vertices, in a picture with 864 pixels along the character's longest side.
*Moving*: over the frames in which the posed mesh moves; *still*: share of the others.
*Where*: the bone with the largest weight on most of these vertices. The columns from *hands* to *ears, tails*
give the 90th percentile of the distance from the pose, in percent of the size; of the rib cage only the half
towards the head counts. Parts are found by the names of bones, and a part without such a name is left out.
*Lively*: lag of a mass on a damped spring with the body's frequency, as a measure of the clip's liveliness in
that part. Stretch (of edges, against the posed mesh) and flipped (inverted) triangles of flesh are those of
the worst frame; cloth has no inside. Jitter: 99th percentile of the second difference of the displacement; of
the rig: the same of the posed mesh, over vertices of flesh. *Jitter of flesh*: of these vertices alone; *of
springs*: of masses on damped springs in their place, each with the frequency at which it moves as much as its
vertex, under the body's amount of the rig's acceleration.

"""
COLUMNS = {
    "file": "{}",
    "seen": "{:.1f} px",
    "seen, moving": "{:.1f} px",
    "still": "{:.0%}",
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
    "jitter of the rig": "{:.2%}",
    "jitter of flesh": "{:.2%}",
    "jitter of springs": "{:.2%}",
    "frequency": "{:.2g} Hz",
    "amount": "{:.2g}",
    "add s": "{:.1f}",
}
MEDIANS = (
    "seen",
    "seen, moving",
    "hips, spine",
    "rib cage",
    "thighs",
    "stretch, 99.9 percentile",
    "jitter",
    "jitter of the rig",
    "jitter of flesh",
    "jitter of springs",
    "add s",
)


if __name__ == "__main__":
    sys.exit(
        characters.tabulate(__doc__, __file__, COLUMNS, medians=MEDIANS, heading=HEADING, sheets="sheets")
    )
