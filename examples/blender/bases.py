"""Error of several displacement bases, without training on the shot, against the full space, per character.

    python bases.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 120]

Characters at the defaults of *Add Jounce*, with their most energetic clips. Errors are those of the
displacement in the mass norm over the shot, without limits: of the draft, and of 60 displacements of each
kind, with forces at 120 tets and at all of them. The part of the shot outside 60 and 192 displacements is
their smallest possible error. Milliseconds are those of one step. The last row is the median.
"""

from __future__ import annotations

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


if __name__ == "__main__":
    sys.exit(characters.tabulate(__doc__, __file__, COLUMNS, medians=MEDIANS))
