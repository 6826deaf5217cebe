"""Mistakes in pages stop the build of the site: broken links, wrong formulas, forgotten names."""

import importlib.util
import re
import subprocess
import sys
import types
from pathlib import Path

import jounce
import markdown
import pytest

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("site_hooks", ROOT / "rust/xtask/src/site.py")
site = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(site)


def html(text):
    settings = {"pymdownx.arithmatex": {"generic": True}}
    return markdown.markdown(text, extensions=["pymdownx.arithmatex"], extension_configs=settings)


def test_formulas_become_mathml():
    text = "The matrix\n\n$$\\begin{bmatrix} a \\\\ b < c \\end{bmatrix}$$\n\nand $x_i$."
    shown = site.rendered(html(text), "p.md")
    assert shown.count("<math") == 2
    assert shown.count("<mtr") == 2
    assert "$" not in shown


def test_a_formula_that_stays_raw_is_refused():
    with pytest.raises(site.SiteError, match="p.md: a dollar sign opens no formula"):
        site.rendered(html("A sum $$a + b$$ within a line."), "p.md")
    site.rendered(html("Some `$HOME` of code."), "p.md")


@pytest.mark.parametrize("tex", ["\\frac{a}{", "\\nosuchcommand{x}", "a^{2", "\\begin{bmatrix} a"])
def test_a_wrong_formula_is_refused(tex):
    with pytest.raises(site.SiteError, match="methods/p.md: the formula"):
        site.rendered(html(f"See ${tex}$ here."), "methods/p.md")


def test_links_follow_their_pages():
    text = "[a](addon/README.md#bones) [b](../rust/core) ![c](images/demo.webp) [d](../SECURITY.md) [e](#x)"
    changed, others = site.relinked(ROOT / "docs/faq.md", text)
    assert changed == "[a](addon/README.md#bones) b ![c](images/demo.webp) [d](project/SECURITY.md) [e](#x)"
    assert others == [ROOT / "docs/images/demo.webp"]


def test_a_link_to_a_film_is_a_player():
    _, others = site.relinked(ROOT / "docs/gallery.md", "[A minute](images/trailer.mp4)")
    assert others == [ROOT / f"docs/images/trailer.{kind}" for kind in ("mp4", "webp")]
    link = '<a href="images/trailer.mp4">A minute</a>'
    player = 'poster="images/trailer.webp" src="images/trailer.mp4">' + link + "</video>"
    assert site.films(f"<p>{link}</p>").endswith(player)
    assert site.films(f"<p>See {link}.</p>") == f"<p>See {link}.</p>"


def test_links_to_nothing_are_refused():
    with pytest.raises(site.SiteError, match="docs/faq.md: the link to images/none.png leads nowhere"):
        site.relinked(ROOT / "docs/faq.md", "![gone](images/none.png)")


def test_notebooks_are_pages(tmp_path):
    """With their code, what it prints and draws, and the links of their text."""
    changed, others = site.relinked(ROOT / "docs/tutorials/python.md", "[n](../notebooks/full_space.ipynb)")
    assert (changed, others) == ("[n](../notebooks/full_space.md)", [])
    page = tmp_path / "notebooks/full_space.md"
    site.write_notebook(ROOT / "docs/notebooks/full_space.ipynb", page)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# The full space\n")
    assert "](../methods/quasi_newton.md)" in text and "[This page as a notebook](full_space.ipynb)" in text
    assert "```python\n" in text and "as ElasticEnergy has it" in text.split("```text\n")[1]
    pictures = re.findall(r"!\[.*\]\((full_space_\d+\.png)\)", text)
    assert len(pictures) == len(set(pictures)) == 2
    assert all(page.with_name(name).read_bytes().startswith(b"\x89PNG") for name in pictures)
    assert page.with_suffix(".ipynb").is_file()


def test_measured_pages_say_when():
    """Above the paragraph that names the command, and so below pictures that come first."""
    row = "| [Bakes](addon/bakes.md) | `a` | `abc1234`, 2026 | `b` | see [moves](addon/moves.md) | `12ab` |"
    page = "# Bakes\n\nPictures.\n\nMade by `a`.\n\nText."
    title, pictures, note, *others = site.dated(page, "addon/bakes.md", row).split("\n\n")
    assert (title, pictures, others) == ("# Bakes", "Pictures.", ["Made by `a`.", "Text."])
    measured = 'note "Measured at `abc1234`, 2026, on two cores'
    assert note == f'??? {measured}; changes since"\n    Since then: see [moves](moves.md).'
    unchanged = site.dated(page, "addon/bakes.md", row.replace("see [moves](addon/moves.md)", "-"))
    assert f'\n\n!!! {measured}"\n\n' in unchanged
    assert site.dated("# Other", "addon/other.md", row) == "# Other"
    with pytest.raises(site.SiteError, match="docs/addon/bakes.md: no paragraph names `a`"):
        site.dated("# Bakes\n\nText.", "addon/bakes.md", row)


@pytest.mark.parametrize("path", sorted((ROOT / "docs").rglob("*.md")), ids=lambda path: path.name)
def test_pages_begin_with_their_title(path):
    """All but the landing page: front matter is a table wherever the sources are read."""
    begins = "---\n" if path == ROOT / "docs/index.md" else "# "
    assert path.read_text(encoding="utf-8").startswith(begins)


def test_wide_pages_have_room():
    page = types.SimpleNamespace(meta={}, file=types.SimpleNamespace(src_uri="gallery.md"))
    site.on_page_markdown("# Gallery\n\n`cargo x gallery`", page, None, None)
    assert page.meta["hide"] == ["navigation", "toc"]
    assert all((ROOT / "docs" / name).is_file() for name in site.HIDDEN)


def test_numbers_of_tables_stay_whole():
    shown = site.whole('<td>1.9e-03</td><td style="a">+2.1 ms</td><td>Mesh Cache</td><td>3 keys</td>')
    assert shown.startswith('<td class="number">1.9e-03</td><td style="a" class="number">+2.1 ms</td>')
    assert "<td>Mesh Cache</td>" in shown and shown.endswith('<td class="number">3 keys</td>')


def test_a_forgotten_name_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("\n".join(f"::: jounce.{name}" for name in jounce.__all__), encoding="utf-8")
    site.check_reference([page])
    page.write_text(
        re.sub("::: jounce.Body$", "", page.read_text(encoding="utf-8"), flags=re.M), encoding="utf-8"
    )
    with pytest.raises(site.SiteError, match="jounce.Body is described 0 times"):
        site.check_reference([page])


def test_a_broken_anchor_or_an_unlisted_page_stops_the_build(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/index.md").write_text("# Home\n\n[there](#nowhere)\n", encoding="utf-8")
    (tmp_path / "pages/lost.md").write_text("# Lost\n", encoding="utf-8")
    rules = re.search(r"^validation:\n(?:  .*\n)+", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.M)[
        0
    ]
    settings = f"site_name: t\ndocs_dir: pages\nstrict: true\nnav: [index.md]\n{rules}"
    (tmp_path / "mkdocs.yml").write_text(settings, encoding="utf-8")
    command = [sys.executable, "-m", "mkdocs", "build"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "there is no such anchor" in done.stderr
    assert "lost.md" in done.stderr
