"""Every notebook of the documentation runs, and is stored as its source says."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "notebooks"
SOURCES = sorted(FOLDER.glob("*.py"))
# Figures of papers, which take as long as all other notebooks together.
LARGE = {"figure_hyper_reduction", "figure_subspaces"}


@pytest.fixture(scope="module")
def notebooks():
    """The script of `cargo x notebooks`."""
    spec = importlib.util.spec_from_file_location(
        "notebooks", ROOT / "rust" / "xtask" / "src" / "notebooks.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_twelve_and_the_list_names_each():
    assert len(SOURCES) == 12
    listed = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert all(f"({source.stem}.ipynb)" in listed for source in SOURCES)


@pytest.mark.parametrize(
    "source",
    [
        pytest.param(source, id=source.stem, marks=pytest.mark.long if source.stem in LARGE else [])
        for source in SOURCES
    ],
)
def test_a_notebook_runs_as_it_is_stored(notebooks, source):
    """The cells are those of the source; all run, and print and draw as often as in the stored notebook."""
    made = notebooks.executed(source.read_text(encoding="utf-8"), source.stem)
    stored = json.loads(source.with_suffix(".ipynb").read_text(encoding="utf-8"))
    assert [it["source"] for it in made["cells"]] == [it["source"] for it in stored["cells"]]
    for ours, theirs in zip(made["cells"], stored["cells"], strict=True):
        kinds = [[output["output_type"] for output in cell.get("outputs", [])] for cell in (ours, theirs)]
        assert kinds[0] == kinds[1], "".join(ours["source"])
    drawn = [it for cell in made["cells"] for it in cell.get("outputs", []) if "data" in it]
    assert drawn and made["cells"][0]["source"][0].startswith("# ")


def test_cells_are_found(notebooks):
    source = "# %% [markdown]\n# # Title\n#\n# Text\n\n# %%\nx = 1\n\n# %%\nprint(x)\n"
    text, first, second = notebooks.cells(source)
    assert text == (True, "# Title\n\nText")
    assert (first.source, second.source) == ("x = 1", "print(x)")
    cells = notebooks.executed(source, "trial")["cells"]
    assert cells[2]["outputs"] == [{"output_type": "stream", "name": "stdout", "text": ["1\n"]}]
    with pytest.raises(ZeroDivisionError):
        notebooks.executed("# %%\n1 / 0\n", "broken")
