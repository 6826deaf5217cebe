"""Builds the documentation site: site.py REPOSITORY RUSTDOC STAGE OUT.

It contains all pages of the repository in their folders, the reference of the Python module from its
docstrings, and that of the Rust library from rustdoc. Every link of every page is checked; a broken one
fails.
"""

import inspect
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import jounce

LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")
NAVIGATION = """
site_name: Jounce
theme: readthedocs
docs_dir: {stage}
site_dir: {out}
use_directory_urls: false
plugins: [search]
markdown_extensions: [tables, toc, fenced_code]
validation: {{omitted_files: ignore, absolute_links: warn, unrecognized_links: warn, anchors: warn}}
nav:
  - Jounce: index.md
  - Install: docs/install.md
  - Blender:
      - User guide: docs/addon/README.md
      - Newcomers: docs/addon/newcomer.md
      - Body parts: docs/addon/body_parts.md
      - Collisions: docs/addon/collisions.md
      - Loose bodies: docs/addon/loose.md
      - Attached bodies: docs/addon/attached.md
      - Trouble: docs/addon/troubleshooting.md
      - Mixamo: docs/addon/mixamo.md
      - Bakes, measured: docs/addon/bakes.md
      - Exports, measured: docs/addon/exports.md
      - Learning: docs/addon/learning.md
      - Muscles: docs/addon/muscles.md
      - Sound: docs/addon/sound.md
      - Leaves: docs/addon/leaves.md
      - What moves: docs/addon/what_moves.md
      - The final motion, measured: docs/addon/final_motion.md
      - Honest bodies: docs/addon/honest_body.md
  - Glossary: docs/glossary.md
  - Farms: docs/farm.md
  - Promises: docs/promises.md
  - Methods:
      - Skinning modes: docs/methods/skinning_modes.md
      - The full space: docs/methods/quasi_newton.md
      - Model reduction: docs/methods/model_reduction.md
      - Loose bodies: docs/methods/projective_dynamics.md
      - Notation: docs/notation.md
  - Benchmarks: docs/benchmarks.md
  - Reference:
      - Python: python.md
      - Rust: rust.md
  - Project:
      - Architecture: ARCHITECTURE.md
      - Contributing: CONTRIBUTING.md
      - Changes: CHANGELOG.md
      - Security: SECURITY.md
"""


def main(root: Path, rustdoc: Path, stage: Path, out: Path) -> None:
    """Builds and checks the site."""
    shutil.rmtree(stage, ignore_errors=True)
    pages = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    for page in pages:
        copy_page(root, page, stage)
    (stage / "python.md").write_text(reference(), encoding="utf-8")
    rust = "# Rust\n\nThe library's own pages: [jounce](rustdoc/jounce/index.html).\n"
    (stage / "rust.md").write_text(rust, encoding="utf-8")
    unlisted = [page for page in map(str, pages_of(stage)) if page not in NAVIGATION]
    if unlisted:
        raise SystemExit(f"no page of the site leads to {', '.join(unlisted)}; add it to site.py")
    settings = stage.with_name("mkdocs.yml")
    settings.write_text(NAVIGATION.format(stage=stage, out=out), encoding="utf-8")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--config-file", settings], check=True
    )
    # Copied after MkDocs has run, because MkDocs would treat its pages as its own.
    shutil.copytree(rustdoc, out / "rustdoc")
    broken = broken_links(out)
    if broken:
        raise SystemExit("\n".join(broken))
    print(f"{sum(1 for _ in own_pages(out))} pages, in {out}")


def pages_of(stage: Path) -> list[Path]:
    """Pages to stage, by their paths from the top."""
    return sorted(page.relative_to(stage) for page in stage.rglob("*.md"))


def copy_page(root: Path, page: Path, stage: Path) -> None:
    """Copies a page with its linked files; links to files off the site become plain text."""
    place = stage / page.relative_to(root)
    place.parent.mkdir(parents=True, exist_ok=True)

    def follow(link: re.Match) -> str:
        picture, text, target = link.groups()
        path = (page.parent / target.split("#")[0]).resolve()
        if "://" in target or target.startswith("#") or path.suffix == ".md" and path.name != "README.md":
            return link[0]
        if path == root / "README.md":
            return link[0].replace("README.md", "index.md")
        is_hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        if path.is_dir() or is_hidden or path.suffix == ".md" and not path.is_relative_to(root / "docs"):
            return text
        if path.suffix != ".md":
            copied = stage / path.relative_to(root)
            copied.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copied)
        return link[0]

    prose = page.read_text(encoding="utf-8").split("```")
    prose[::2] = [LINK.sub(follow, text) for text in prose[::2]]
    place = place.with_name("index.md") if page == root / "README.md" else place
    place.write_text("```".join(prose), encoding="utf-8")


def reference() -> str:
    """Reference of the Python module from its docstrings."""
    lines = ["# Python\n", inspect.getdoc(jounce) or ""]
    for name in jounce.__all__:
        thing = getattr(jounce, name)
        lines += [f"\n## {name}\n", described(name, thing)]
        members = vars(thing).items() if inspect.isclass(thing) else ()
        lines += [
            f"\n### {name}.{key}\n\n{described(key, it)}" for key, it in members if not key.startswith("_")
        ]
    return "\n".join(lines) + "\n"


def described(name: str, thing: object) -> str:
    """Signature, if any, and docstring of one object."""
    try:
        head = f"{name}{inspect.signature(thing)}\n\n" if callable(thing) else ""
    except ValueError:
        head = ""
    return f"```text\n{head}{inspect.getdoc(thing) or ''}\n```"


class Links(HTMLParser):
    """Links of a page, and its link targets."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collects the links and anchors of a tag."""
        for key, value in attrs:
            if value and (key, tag) in (("href", "a"), ("src", "img")):
                self.targets.append(value)
            if value and key in ("id", "name"):
                self.names.add(value)


def own_pages(out: Path) -> list[Path]:
    """Pages of the site, except those of rustdoc, which checks its own links."""
    return sorted(page for page in out.rglob("*.html") if not page.is_relative_to(out / "rustdoc"))


def broken_links(out: Path) -> list[str]:
    """Links of the pages that lead to no file of the site, or to no anchor of its page."""
    pages = {
        page: Links(page.read_text(encoding="utf-8")) for page in own_pages(out) if page.name != "404.html"
    }
    found = []
    for page, links in pages.items():
        for target in links.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            lacks = path in pages and parts.fragment and parts.fragment not in pages[path].names
            if not path.exists() or lacks:
                found.append(f"{page.relative_to(out)}: the link to {target} leads nowhere")
    return found


if __name__ == "__main__":
    main(*(Path(argument).resolve() for argument in sys.argv[1:]))
