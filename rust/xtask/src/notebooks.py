"""Executes notebooks: notebooks.py FOLDER [NAME ...].

The source of a notebook is NAME.py in the percent format: `# %% [markdown]` begins a cell of text, whose
lines are comments, and `# %%` one of code. Executed, it becomes NAME.ipynb beside it, with what it prints and
draws. No Jupyter is needed for that.
"""

import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

HEAD = "# %%"
# Dots per inch of pictures, and the size in inches of those that ask for none.
DPI, SIZE = 90, (6.4, 3.2)


class Cell(NamedTuple):
    """A cell of a notebook."""

    is_text: bool
    source: str


def cells(source: str) -> list[Cell]:
    """Cells of a source in the percent format."""
    found: list[Cell] = []
    for block in ("\n" + source).split(f"\n{HEAD}")[1:]:
        head, _, body = block.partition("\n")
        is_text = head.strip() == "[markdown]"
        lines = body.strip("\n").splitlines()
        found.append(Cell(is_text, "\n".join(line[2:] for line in lines) if is_text else "\n".join(lines)))
    return found


def executed(source: str, name: str) -> dict[str, Any]:
    """The notebook of a source, with outputs. Raises the error of a cell."""
    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"figure.figsize": SIZE, "figure.dpi": DPI, "figure.constrained_layout.use": True})
    # Figures that others left open are none of the notebook's.
    pyplot.close("all")
    space: dict[str, Any] = {"__name__": name}
    made: list[dict[str, Any]] = []
    count = 0
    for number, cell in enumerate(cells(source)):
        if cell.is_text:
            made.append({"cell_type": "markdown", "metadata": {}, "source": lines(cell.source)})
            continue
        count += 1
        outputs = run(cell.source, f"{name}, cell {number}", space)
        code = {"cell_type": "code", "execution_count": count, "metadata": {}}
        made.append(code | {"source": lines(cell.source), "outputs": outputs})
    language = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return {"cells": made, "metadata": language, "nbformat": 4, "nbformat_minor": 4}


def run(code: str, name: str, space: dict[str, Any]) -> list[dict[str, Any]]:
    """Outputs of a cell of code: printed text, then figures."""
    from matplotlib import pyplot

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, name, "exec"), space)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines(printed.getvalue())})
    for number in pyplot.get_fignums():
        picture = io.BytesIO()
        pyplot.figure(number).savefig(picture, format="png", metadata={"Software": None})
        data = {"image/png": base64.b64encode(picture.getvalue()).decode(), "text/plain": ["a figure"]}
        outputs.append({"output_type": "display_data", "data": data, "metadata": {}})
    pyplot.close("all")
    return outputs


def lines(text: str) -> list[str]:
    """Text as notebooks have it."""
    return text.splitlines(keepends=True)


def main(folder: Path, names: list[str]) -> None:
    """Executes the named notebooks of a folder, or all."""
    for source in sorted(folder.glob("*.py")):
        if not names or source.stem in names:
            notebook = executed(source.read_text(encoding="utf-8"), source.stem)
            text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
            source.with_suffix(".ipynb").write_text(text, encoding="utf-8")
            print(f"{source.stem}: {len(text) // 1024} KB")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
