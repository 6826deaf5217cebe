"""Part of a shot outside its first displacements, per character, as curves in an SVG.

    python spectrum.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 120]

Characters at the defaults of *Add Jounce* in the full space, with their most energetic clips. The curves are
written to spectrum.svg beside the table; shares are those of the displacement in the mass norm over the shot.
"""

from __future__ import annotations

import sys
from math import log10
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import characters

COUNTS = (4, 8, 16, 32, 64)
COLUMNS = {"file": "{}", **{str(count): "{:.1%}" for count in COUNTS}}
# Ranges and position of the plot, in the picture's units.
MOST, LEAST = 64, 1e-3
LEFT, TOP, WIDE, HIGH = 60, 20, 600, 360
COLOURS = ("#c33", "#27a", "#283", "#a5a", "#b70", "#555")


def main() -> int:
    """Measures all, writes the table and draws the curves."""
    options = characters.parser(__doc__).parse_args()
    rows = characters.run_all(Path(__file__).with_name("spectrum_of.py"), options, {"file": "{}"})
    measured = [row for row in rows if "left out" in row]
    for row in measured:
        row |= {str(count): row["left out"][count - 1] for count in COUNTS if count <= len(row["left out"])}
    options.out.write_text(characters.table(rows, COLUMNS), encoding="utf-8")
    options.out.with_name("spectrum.svg").write_text(drawn(measured), encoding="utf-8")
    return characters.failures(rows)


def drawn(rows: list[dict]) -> str:
    """Curves of all characters, with their names at the ends."""
    shapes = []
    for share in (1.0, 0.1, 0.01, 0.001):
        x, y = place(1, share)
        shapes.append(f'<path d="M{x} {y}h{WIDE}" stroke="#ddd"/>')
        shapes.append(f'<text x="{x - 8}" y="{y + 4}" text-anchor="end">{share:.1%}</text>')
    for count in (1, *COUNTS[:-1], MOST):
        x, y = place(count, LEAST)
        shapes.append(f'<path d="M{x} {y}v{-HIGH}" stroke="#ddd"/>')
        shapes.append(f'<text x="{x}" y="{y + 18}" text-anchor="middle">{count}</text>')
    for number, row in enumerate(rows):
        colour = COLOURS[number % len(COLOURS)]
        curve = [(n, share) for n, share in enumerate(row["left out"][:MOST], 1) if share >= LEAST]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in curve))
        shapes.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        # Names are in a column of their own, because curves meet.
        y = TOP + 16 * (number + 1)
        name = Path(row["file"]).stem
        shapes.append(f'<text x="{LEFT + WIDE + 12}" y="{y}" fill="{colour}">{name}</text>')
    middle = LEFT + WIDE / 2
    shapes.append(f'<text x="{middle}" y="{TOP + HIGH + 40}" text-anchor="middle">displacements</text>')
    size = f"0 0 {LEFT + WIDE + 180} {TOP + HIGH + 55}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" font-family="sans-serif" font-size="13">'
    )
    return f'{head}<rect width="100%" height="100%" fill="#fff"/>{"".join(shapes)}</svg>\n'


def place(count: float, share: float) -> tuple[float, float]:
    """Position in the picture of a number of displacements and the share outside their span."""
    along, up = log10(count) / log10(MOST), 1.0 - log10(share) / log10(LEAST)
    return LEFT + WIDE * along, TOP + HIGH * (1.0 - up)


if __name__ == "__main__":
    sys.exit(main())
