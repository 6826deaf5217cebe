"""Error of the reduced motion of every character against the full space: clusters and cubature.

    python full_space.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 30]

Characters at the defaults of *Add Jounce*, with their most energetic clips. The error is that of the
displacement in the mass norm over the shot, size is the size of the motion relative to the full space's, and
milliseconds are those of one step. The last row is the median.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters

COLUMNS = {
    "file": "{}",
    "vertices": "{}",
    "pinned": "{:.0%}",
    "frequency": "{:.2g} Hz",
    "clusters": "{}",
    "error, clusters": "{:.0%}",
    "size, clusters": "{:.2f}",
    "ms, clusters": "{:.3f}",
    "tets": "{}",
    "error, cubature": "{:.0%}",
    "size, cubature": "{:.2f}",
    "ms, cubature": "{:.3f}",
    "training s": "{:.2f}",
}
MEDIANS = [name for name in COLUMNS if name.startswith(("error", "size", "training"))]


if __name__ == "__main__":
    sys.exit(characters.tabulate(__doc__, __file__, COLUMNS, medians=MEDIANS))
