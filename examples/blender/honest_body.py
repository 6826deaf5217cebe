"""Mass and frequencies of a body at five resolutions; first step, in Blender: the surfaces.

    python honest_body.py DATA_DIR --out DIR/surfaces.md [--extension ZIP] [--only NAME]

The surfaces are written to the folder `surfaces` beside the list, for `honest_body_table.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters


def main() -> int:
    """Saves the surfaces of all characters."""
    options = characters.parser(__doc__).parse_args()
    script = Path(__file__).with_name("honest_body_of.py")
    folder = ("--folder", str(options.out.parent / "surfaces"))
    rows = characters.run_all(script, options, {"file": "{}", "points": "{}"}, folder)
    return characters.failures(rows)


if __name__ == "__main__":
    sys.exit(main())
