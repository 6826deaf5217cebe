"""The final motion of every character beside its draft, at the defaults of *Add Jounce*.

    python final_motion.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 60]

The clips are the characters' most energetic ones, without any manual choice. The contact sheets are written
to the folder `final` beside the table.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters

HEADING = """# The final motion, measured

Made by `cargo x final`: twenty characters, each with the 60 frames of its clips that
accelerate most, at the defaults of *Add Jounce*, four steps a frame. *Apart* is how far the draft is from the
final motion, root mean square over vertices and frames, as a share of how far that moves. *Seen* and the rib
cage are measured as by `cargo x sheets`. Stretch is of edges
against the posed mesh, flipped triangles turn inside out, both in the worst frame; jitter is the second
difference of the displacement that all but a hundredth stay below. *Rise*: after the frame in which the flesh
holds most elastic energy the rig stands still for two seconds, without damping and limits; the most that
kinetic and elastic energy together rise by in a step, as a share of what they are at first.

"""
COLUMNS = {
    "file": "{}",
    "tets": "{}",
    "ms a frame": "{:.0f}",
    "draft, apart": "{:.0%}",
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
    sys.exit(characters.tabulate(__doc__, __file__, COLUMNS, heading=HEADING, sheets="final"))
