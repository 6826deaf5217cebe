"""Moving pictures for the README and the gallery: characters posed beside flesh beside heat, as loops.

    python gallery.py DATA_DIR --out gallery.md [--pictures DIR] [--extension ZIP] [--only NAME]

`gallery_clips.py` lists the clips. The table says by how many pixels the outlines of pose and flesh differ.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters
import first_picture
from gallery_clips import CLIPS, FIRST, SECOND

HEADING = """# Gallery

Made by `cargo x gallery`. *Apart*: mean distance of the outlines of pose and flesh over the frames, and in
the frame with the largest, in pixels of a panel. *Red*: distance of the last colour, in percent of the
size. Without an amount it is the preset's.

"""
COLUMNS = {
    "picture": "{}",
    "file": "{}",
    "action": "{}",
    "preset": "{}",
    "amount": "{}",
    "frames": "{}",
    "red": "{:.1%}",
    "apart, px": "{:.2f}",
    "most, px": "{:.2f}",
    "panel, px": "{}",
}
DOCS = Path(__file__).resolve().parents[2] / "docs"
SCRIPT = Path(__file__).with_name("gallery_of.py")


def main() -> int:
    """Makes the pictures whose names contain a word, and the table; returns the number of failures."""
    parser = characters.parser(__doc__)
    parser.add_argument("--pictures", type=Path, default=DOCS / "images/gallery")
    options = parser.parse_args()
    files, rows = {path.stem: path for path in characters.found(options.data)}, []
    files[SECOND.file] = DOCS / f"files/{SECOND.file}.blend"
    for clip in (clip for clip in (FIRST, SECOND, *CLIPS) if options.only in clip.picture):
        if clip.file in files:
            words = ("--sheets", str(options.pictures), "--clip", clip.picture)
            rows.append(characters.run_one(SCRIPT, files[clip.file], options, words))
        else:
            rows.append({"file": clip.file, "failed": [f"there is no such file below {options.data}"]})
        print(json.dumps(rows[-1]), flush=True)
    kept = [options.pictures / clip.picture for clip in (FIRST, SECOND)]
    if all(folder.is_dir() for folder in kept):
        first_picture.join(kept, options.pictures / f"{FIRST.picture}.webp", FIRST.most)
    options.out.write_text(HEADING + characters.table(rows, COLUMNS), encoding="utf-8")
    return characters.failures(rows)


if __name__ == "__main__":
    sys.exit(main())
