"""Plots the table of the modes benchmark: seconds against vertices and against bones.

plot.py BENCH.txt OUT.svg
"""

import sys
from collections import Counter
from pathlib import Path

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

HEADER = "vertices bones    modes s"
COLUMNS = {"modes s": 2, "paper s": 4, "reference s": 5, "KKT s": 7}
LABELS = {
    "modes s": "Jounce",
    "paper s": "the paper's authors, their laptop",
    "reference s": "scipy, CHOLMOD",
    "KKT s": "scipy, LU of the saddle point",
}


def rows(text: str) -> list[list[str]]:
    """Words of each row of the table."""
    lines = text.splitlines()
    start = next(index for index, line in enumerate(lines) if line.startswith(HEADER)) + 1
    found = []
    for line in lines[start:]:
        words = line.split()
        if not words or not words[0].isdigit():
            break
        found.append(words)
    return found


def draw(axes: Axes, table: list[list[str]], across: int) -> None:
    """Draws one line per program with numbers, against a column of the table."""
    for name, column in COLUMNS.items():
        points = [(int(row[across]), float(row[column])) for row in table if row[column] != "-"]
        if points:
            axes.plot(*zip(*sorted(points), strict=True), marker="o", label=LABELS[name])
    axes.set_yscale("log")
    axes.set_ylabel("seconds")
    axes.grid(visible=True, which="both", alpha=0.25)
    axes.legend(fontsize=8)


def main(source: Path, target: Path) -> None:
    """Draws both plots into one picture."""
    table = rows(source.read_text())
    # A fixed salt, so that equal numbers give equal files.
    matplotlib.rcParams["svg.hashsalt"] = "jounce"
    figure = Figure(figsize=(9.0, 3.6), layout="constrained")
    vertices, bones = figure.subplots(1, 2)
    draw(vertices, [row for row in table if row[1] == "0"], 0)
    vertices.set_xscale("log")
    vertices.set_xlabel("vertices, no rig")
    sizes = Counter(int(row[0]) for row in table)
    size = max(sizes, key=lambda vertices: (sizes[vertices], -vertices))
    draw(bones, [row for row in table if int(row[0]) == size], 1)
    bones.set_xlabel(f"bones, {size} vertices")
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
