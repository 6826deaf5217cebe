"""The final motion of every character beside its draft and its modes, at the defaults of *Add Jounce*.

    python final_motion.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 60]

The clips are the characters' most energetic ones, without any manual choice. The contact sheets are written
to the folder `final` beside the table.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters

HEADING = """# The final motion, measured

Made by `cargo x final`: twenty characters at the defaults of *Add Jounce*, in the 60 liveliest frames of each
character's clips, four steps a frame. *Draft* is the motion that a preview shows before a frame is final,
*modes* that of the quality *Draft*. *Apart*: distance from the final motion, as a share of the final motion,
both root mean squares over vertices and frames. *ms*: processor time of a frame's step on one thread, in the
mean, without the rig's. *Seen* and the rib cage
are measured as by `cargo x sheets`. Stretch (of edges, against the posed mesh) and flipped
(inverted) triangles are those of the worst frame. Jitter: 99th percentile of the second difference of the
displacement. *Rise*: the rig stands still for two seconds after the frame with the largest elastic energy,
without damping and limits; the largest rise of kinetic and elastic energy together in one step, as a share of
their sum at the start.

"""
COLUMNS = {
    "file": "{}",
    "tets": "{}",
    "ms, modes": "{:.1f}",
    "ms, draft": "{:.1f}",
    "ms": "{:.1f}",
    "modes, apart": "{:.0%}",
    "draft, apart": "{:.1%}",
    "seen, draft": "{:.1f} px",
    "seen": "{:.1f} px",
    "rib cage, draft": "{:.2%}",
    "rib cage": "{:.2%}",
    "largest, draft": "{:.1%}",
    "largest": "{:.1%}",
    "stretch, 99.9 percentile, draft": "{:.0%}",
    "stretch, 99.9 percentile": "{:.0%}",
    "flipped triangles, draft": "{:.3%}",
    "flipped triangles": "{:.3%}",
    "jitter, draft": "{:.2%}",
    "jitter": "{:.2%}",
    "rise": "{:.0e}",
}


if __name__ == "__main__":
    # Processor time of two threads counts their waiting too.
    os.environ["RAYON_NUM_THREADS"] = "1"
    sys.exit(characters.tabulate(__doc__, __file__, COLUMNS, heading=HEADING, sheets="final"))
