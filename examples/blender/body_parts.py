"""Motion of every character at the defaults of *Add Jounce*, measured by parts, with a sheet of each.

    python body_parts.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 60]

Clips are the characters' most energetic ones, repeated if short, with nothing chosen by hand, and their
walks. The contact sheets go into the folder `sheets` beside the table.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters

HEADING = """# What moves where, measured

Made by `cargo x sheets`: the final motion of twenty characters at the defaults of *Add Jounce*, in the 60
liveliest frames of each character's clips. A shorter clip that ends in its first pose repeats, as in a game;
another is followed by its held last pose. Motion is distance from the pose in percent of the size.

## What moves

*Seen*: mean over the frames and the most mobile hundredth of the vertices, in a picture with 864 pixels along
the character's longest side. *Moving*: over the frames in which the posed mesh moves; *still*: share of the
others. *Where*: the bone with the largest weight on most of these vertices, and the part that has most of
them, *none* for cloth. Belly, buttocks, thighs, ears and tail are the parts that *Add Jounce* finds, 90th
percentile of their vertices; blank: not found. *Largest*: of all vertices.

"""
STAYS = """## What stays

Parts by the names of their bones: 90th percentile, and largest; blank without such a name. Of the rib cage
only the half of the trunk towards the head counts.

"""
SHAPE = """## Shape and jitter

Stretch (of edges, against the posed mesh), flipped (inverted) triangles and change of volume (inside the
skin) are those of the worst frame, of flesh; cloth has no inside, but its edges count as stretch. Jitter:
99th percentile of the second difference of the displacement; of the rig: the same of the posed mesh, over
vertices of flesh. *Of flesh*: of these vertices alone; *of springs*: of masses on damped springs in their
place, each with the frequency at which it moves as much as its vertex, under the body's amount of the rig's
acceleration. *Lively*: lag of a mass on a damped spring with the body's frequency in hips and spine, as a
measure of the clip's liveliness.

"""
WALKS = """## In a walk

At most two seconds of an action named *Walk* or *Walking*, after *Add Jounce* for this action alone.

"""
# Smallest and largest motion of a part that looks right, as shares of the size. One percent is about ten of
# the 864 pixels, which are seen at a glance; a tail should sweep. The largest are about half of the depth of
# a belly, a seat or a thigh, and half of an ear's length, beyond which a part loses its shape.
BANDS = {
    "belly": (0.01, 0.06),
    "buttocks": (0.01, 0.05),
    "thighs": (0.01, 0.05),
    "ears": (0.01, 0.08),
    "tail": (0.02, 0.15),
}
PARTS = dict.fromkeys(BANDS, "{:.1%}")
MOVES = {
    "file": "{}",
    "seen": "{:.1f} px",
    "seen, moving": "{:.1f} px",
    "still": "{:.0%}",
    "where": "{}",
    "where, part": "{}",
    **PARTS,
    "largest": "{:.1%}",
}
AT_REST = {
    "file": "{}",
    "hands": "{:.2%}",
    "hands, largest": "{:.2%}",
    "feet": "{:.2%}",
    "feet, largest": "{:.2%}",
    "head": "{:.2%}",
    "head, largest": "{:.2%}",
    "rib cage": "{:.2%}",
}
SHAPED = {
    "file": "{}",
    "stretch, 99.9 percentile": "{:.0%}",
    "largest stretch": "{:.0%}",
    "flipped triangles": "{:.3%}",
    "volume": "{:.1%}",
    "jitter": "{:.2%}",
    "jitter of the rig": "{:.2%}",
    "jitter of flesh": "{:.2%}",
    "jitter of springs": "{:.2%}",
    "frequency": "{:.2g} Hz",
    "amount": "{:.2g}",
    "lively": "{:.1%}",
    "add s": "{:.1f}",
}
WALKED = {"file": "{}", "seen": "{:.1f} px", "where, part": "{}", **PARTS, "jitter": "{:.2%}"}
# Columns without a median.
NAMES = ("file", "still", "where", "where, part")


def main() -> int:
    """Measures all characters and writes the tables; returns the number of failures."""
    options = characters.parser(__doc__).parse_args()
    script = Path(__file__).with_name("body_parts_of.py")
    rows = characters.run_all(script, options, MOVES, ("--sheets", str(options.out.parent / "sheets")))
    walks = [{"file": row["file"], **row["walk"]} for row in rows if "walk" in row]
    measured = [row for row in rows if "seen" in row]
    pieces = [
        HEADING,
        table(measured, MOVES),
        STAYS,
        table(measured, AT_REST),
        SHAPE,
        table(measured, SHAPED),
    ]
    pieces += [WALKS, table(walks, WALKED), "\n".join(characters.notes(rows)), "\n"]
    options.out.write_text("".join(pieces), encoding="utf-8")
    return characters.failures(rows)


def table(rows: list[dict], columns: dict[str, str]) -> str:
    """A table with the medians in a last row."""
    lines = [{name: cell(name, row[name], columns) for name in columns if name in row} for row in rows]
    numbers = {name: [row[name] for row in rows if name in row] for name in columns if name not in NAMES}
    middle = {name: columns[name].format(statistics.median(all_)) for name, all_ in numbers.items() if all_}
    return characters.table([*lines, {"file": "median"} | middle], dict.fromkeys(columns, "{}"))


def cell(name: str, value: str | float, columns: dict[str, str]) -> str:
    """A value as shown, with a mark at the motion of a part outside of its band."""
    shown = columns[name].format(value)
    if name not in BANDS or isinstance(value, str):
        return shown
    low, high = BANDS[name]
    return f"{shown}, little" if value < low else f"{shown}, much" if value > high else shown


if __name__ == "__main__":
    sys.exit(main())
