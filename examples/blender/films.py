"""Films of every character at the defaults of *Add Jounce*, to look at with an animator's eyes.

    python films.py DATA_DIR --out films.md [--extension ZIP] [--only NAME] [--frames 96]

Clips are the characters' most energetic ones, with nothing chosen by hand. The folder `films` beside the
table has for each character a film (webp, and mp4 if Blender has FFmpeg) and a strip of six of its frames.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters

HEADING = """# Films

Made by `cargo x films`: each character with the frames of its clips that accelerate most, posed, with flesh
at the defaults of *Add Jounce*, and the latter coloured by its distance from the pose, 24 frames a second at
true speed. *Red*: distance of the last colour, in percent of the size. *Largest*: of any vertex in any frame.

"""
COLUMNS = {
    "file": "{}",
    "action": "{}",
    "seconds": "{:.1f}",
    "red": "{:.1%}",
    "largest": "{:.1%}",
    "strip, s": "{}",
    "webp, kB": "{:.0f}",
    "rendered in s": "{:.0f}",
}
FRAMES = 96


if __name__ == "__main__":
    sys.exit(characters.tabulate(__doc__, __file__, COLUMNS, heading=HEADING, sheets="films", frames=FRAMES))
