"""Hooks of MkDocs for the documentation site: mkdocs.yml names this file.

Before a build they gather the pages: those of `docs` at the top of the site, with the notebooks, those of
the repository in `project`, other linked files in `files`, and the reference of the Rust library in `rust`.
Links follow.
During the build they render every formula as MathML, show linked films, and let pictures load when they come
into sight. A
broken link, a formula with a mistake, and a public name of the Python module without a place in the reference
each stop the build.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[3]
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
# Formulas in the form in which the Markdown extension arithmatex leaves them.
FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.S)
# A link to a film in a paragraph of its own.
FILM = re.compile(r'<p><a href="([^"]+)\.mp4">(.*?)</a></p>', re.S)
CODE = re.compile(r"<(pre|code)\b.*?</\1>", re.S)
# A cell of a table that holds a number with its unit.
NUMBER = re.compile(r"<td([^>]*)>([+-]?\d[^<]{0,15})</td>")
# Names of the Python module in the reference.
DESCRIBED = re.compile(r"^::: jounce\.(\w+)$", re.M)
FONT = "fonts/STIXTwoMath-Regular.ttf"
# Columns at the side that wide pages leave out; their own front matter would show where sources are read.
HIDDEN = {"gallery.md": ["navigation", "toc"], "evidence.md": ["toc"]}


class Constructors(griffe.Extension):
    """Constructors of compiled classes, `__new__` in the stub, in the place where the reference looks."""

    def on_class(self, *, cls: griffe.Class, **_: object) -> None:
        """Copies `__new__` to `__init__`."""
        made = cls.members.get("__new__")
        if isinstance(made, griffe.Function):
            parameters = griffe.Parameters(*made.parameters)
            cls.set_member("__init__", griffe.Function("__init__", parameters=parameters))


class SiteError(PluginError):
    """A mistake in a page."""


def on_pre_build(config: MkDocsConfig) -> None:
    """Gathers the pages of the site."""
    stage = Path(config.docs_dir)
    shutil.rmtree(stage, ignore_errors=True)
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        place = stage / placed(page)
        place.parent.mkdir(parents=True, exist_ok=True)
        text, others = relinked(page, page.read_text(encoding="utf-8"))
        place.write_text(text, encoding="utf-8")
        for other in others:
            copy(other, stage / placed(other))
    for notebook in (ROOT / "docs/notebooks").glob("*.ipynb"):
        write_notebook(notebook, stage / placed(notebook))
    shutil.copytree(ROOT / "docs/site", stage / "site", dirs_exist_ok=True)
    copy(ROOT / "docs/images/logo.svg", stage / "images/logo.svg")
    copy(Path(package("ziamath")) / FONT, stage / "site" / Path(FONT).name)
    shutil.copytree(os.environ["JOUNCE_RUSTDOC"], stage / "rust")
    check_reference((stage / "reference").glob("*.md"))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Says on a measured page when it was measured, and what has changed since; gives wide pages room."""
    page.meta.setdefault("hide", HIDDEN.get(page.file.src_uri, []))
    return dated(markdown, page.file.src_uri, (ROOT / "docs/evidence.md").read_text(encoding="utf-8"))


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Renders the formulas of a page, keeps its numbers whole, shows its films, and loads its pictures when
    they come into sight.
    """
    return lazy(films(whole(rendered(html, page.file.src_uri))))


def package(name: str) -> str:
    """Folder of an installed package."""
    found = importlib.util.find_spec(name)
    assert found and found.submodule_search_locations, name
    return found.submodule_search_locations[0]


def copy(source: Path, place: Path) -> None:
    """Copies a file into a folder that may be missing."""
    place.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, place)


def placed(path: Path) -> Path:
    """Place of a file of the repository in the site."""
    if path.is_relative_to(ROOT / "docs"):
        inside = path.relative_to(ROOT / "docs")
        return inside.with_suffix(".md") if path.suffix == ".ipynb" else inside
    inside = path.relative_to(ROOT)
    return Path("project" if path.suffix == ".md" and path.parent == ROOT else "files") / inside


def relinked(page: Path, text: str) -> tuple[str, list[Path]]:
    """A page with its links as they are in the site, and the linked files that are no pages.

    Links to folders and to hidden files become plain text. Raises SiteError for a link to a missing file.
    """
    others: list[Path] = []

    def follow(link: re.Match[str]) -> str:
        mark, words, target = link.groups()
        name, _, anchor = target.partition("#")
        if "://" in target or not name or target.startswith("mailto:"):
            return link[0]
        path = Path(os.path.normpath(page.parent / name))
        if not path.exists():
            raise SiteError(f"{page.relative_to(ROOT)}: the link to {target} leads nowhere")
        is_hidden = any(part.startswith(".") for part in path.relative_to(ROOT).parts)
        is_inside = path.parent == ROOT or path.is_relative_to(ROOT / "docs")
        is_page = path.suffix in (".md", ".ipynb") and is_inside
        if path.is_dir() or is_hidden or path.suffix == ".md" and not is_page:
            return words
        if not is_page:
            others.append(path)
            if path.suffix == ".mp4":
                others.append(path.with_suffix(".webp"))
        moved = os.path.relpath(placed(path), placed(page).parent)
        return f"{mark}[{words}]({Path(moved).as_posix()}{'#' if anchor else ''}{anchor})"

    parts = text.split("```")
    parts[::2] = [LINK.sub(follow, part) for part in parts[::2]]
    return "```".join(parts), others


def write_notebook(notebook: Path, page: Path) -> None:
    """Writes an executed notebook as a page, with its pictures and itself beside it."""
    page.parent.mkdir(parents=True, exist_ok=True)
    copy(notebook, page.with_suffix(".ipynb"))
    blocks: list[str] = []
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            blocks.append(relinked(notebook, source)[0])
            continue
        blocks.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            if output["output_type"] == "stream":
                blocks.append(f"```text\n{''.join(output['text'])}```")
                continue
            picture = page.with_name(f"{page.stem}_{len(blocks)}.png")
            picture.write_bytes(base64.b64decode(output["data"]["image/png"]))
            blocks.append(f"![Drawn by the code above]({picture.name})")
    blocks.insert(1, f"[This page as a notebook]({notebook.name})")
    page.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


def dated(markdown: str, place: str, evidence: str) -> str:
    """A page with a note above the paragraph that names its command, if the list of measured pages has it.

    Changes since the measurement are folded. Raises SiteError for such a page without its command.
    """
    row = re.search(rf"^\| \[[^]]*\]\({re.escape(place)}\) \|(.*)\|$", evidence, re.M)
    if not row:
        return markdown
    command, commit, _, changed, _ = (cell.strip() for cell in row[1].split("|"))
    folder = Path(place).parent
    since = re.sub(r"\]\(([^)#]+)", lambda link: f"]({os.path.relpath(link[1], folder)}", changed)
    note = f'!!! note "Measured at {commit}, on two cores"'
    if changed != "-":
        note = f'??? note "Measured at {commit}, on two cores; changes since"\n    Since then: {since}.'
    paragraphs = markdown.split("\n\n")
    number = next((number for number, text in enumerate(paragraphs) if command in text), None)
    if number is None:
        raise SiteError(f"docs/{place}: no paragraph names {command}, which makes its numbers")
    return "\n\n".join([*paragraphs[:number], note, *paragraphs[number:]])


def rendered(html: str, page: str) -> str:
    """A page's HTML with its formulas as MathML. Raises SiteError for a formula with a mistake."""
    from math_core import LatexError, LatexToMathML

    convert = LatexToMathML(fancy_error=False).convert_with_local_state

    def formula(match: re.Match[str]) -> str:
        tag, bracket, escaped = match.groups()
        tex = escaped.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        try:
            shown = convert(tex, displaystyle=bracket == "[")
        except LatexError as error:
            raise SiteError(f"{page}: the formula {tex.strip()} has a mistake: {error}") from error
        return f'<{tag} class="formula">{shown}</{tag}>'

    left = CODE.sub("", FORMULA.sub("", html))
    if "$" in left:
        raise SiteError(f"{page}: a dollar sign opens no formula: {left[left.index('$') :][:60]}")
    return FORMULA.sub(formula, html)


def films(html: str) -> str:
    """A page's HTML in which links to films are players, each with a picture of the same name at first."""
    player = (
        r'<video class="picture" controls preload="none" poster="\1.webp" src="\1.mp4">'
        r'<a href="\1.mp4">\2</a></video>'
    )
    return FILM.sub(player, html)


def whole(html: str) -> str:
    """A page's HTML whose cells with a number are of a class of their own, on one line."""
    return NUMBER.sub(r'<td\1 class="number">\2</td>', html)


def lazy(html: str) -> str:
    """A page's HTML whose pictures are loaded when they come into sight, all but the first."""
    before, first, after = html.partition("<img ")
    return before + first + after.replace("<img ", '<img loading="lazy" ')


def check_reference(pages: Iterable[Path]) -> None:
    """Raises SiteError for a public name of the Python module that no page describes, and for one twice."""
    import jounce

    described = [name for page in pages for name in DESCRIBED.findall(page.read_text(encoding="utf-8"))]
    for name in (name for name in jounce.__all__ if not name.startswith("_")):
        times = described.count(name)
        if times != 1:
            raise SiteError(f"docs/reference: jounce.{name} is described {times} times, not once")
