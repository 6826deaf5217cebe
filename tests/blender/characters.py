"""Sends every character of a folder the whole way, one process each, and writes a table of what happened.

    python characters.py DATA_DIR --out table.md [--extension ZIP] [--only NAME] [--frames 60]

DATA_DIR holds files of characters, or the folders mixamo, open_humanoid and open_creature of them. The
checks are in `character_checks.py`. The exit code is the number of characters that failed a check, crashed
or ran out of time; a refusal is none.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

FOLDERS = (".", "mixamo", "open_humanoid", "open_creature")
# Frames of a clip by default.
FRAMES = 60
KINDS = {".fbx", ".glb", ".gltf", ".blend"}
COLUMNS = {
    "file": "{}",
    "vertices": "{}",
    "bones": "{}",
    "tets": "{}",
    "modes": "{}",
    "build s": "{:.1f}",
    "bake ms/frame": "{:.1f}",
    "step ms": "{:.2f}",
    "keys": "{}",
    "bake error": "{:.3%}",
    "largest motion": "{:.2%}",
    "checks": "{}",
}
CHECKS = Path(__file__).resolve().parent / "character_checks.py"


def main() -> int:
    """Run all and write the table."""
    return failures(run_all(CHECKS, parser(__doc__).parse_args(), COLUMNS))


def tabulate(
    description: str,
    program: str,
    columns: dict[str, str],
    *,
    medians: Iterable[str] = (),
    heading: str = "",
    sheets: str = "",
    frames: int = FRAMES,
) -> int:
    """Measures each character by the helper beside a program, x_of.py beside x.py, and writes the table.

    A last row has the medians of some columns. Pictures go to the folder `sheets` beside the table. Returns
    the number of failures.
    """
    options = parser(description, frames).parse_args()
    script = Path(program).with_name(f"{Path(program).stem}_of.py")
    more = ("--sheets", str(options.out.parent / sheets)) if sheets else ()
    rows = run_all(script, options, columns, more)
    measured = {name: [row[name] for row in rows if name in row] for name in medians}
    middle = {name: statistics.median(numbers) for name, numbers in measured.items() if numbers}
    last = [{"file": "median"} | middle] if middle else []
    options.out.write_text(heading + table([*rows, *last], columns), encoding="utf-8")
    return failures(rows)


def failures(rows: list[dict]) -> int:
    """Number of failed characters; 1 without any character."""
    return sum(bool(row.get("failed")) for row in rows) if rows else 1


def run_all(
    script: Path, options: argparse.Namespace, columns: dict[str, str], more: tuple[str, ...] = ()
) -> list[dict]:
    """Reports of a script, called with more words, on each character; writes the table after each."""
    files = [path for path in found(options.data) if options.only in path.name]
    if not files:
        print(
            f"There are no characters in {options.data} or in its folders {', '.join(FOLDERS[1:])}.",
            file=sys.stderr,
        )
    rows = []
    for path in files:
        rows.append(run_one(script, path, options, more))
        print(json.dumps(rows[-1]), flush=True)
        options.out.write_text(table(rows, columns), encoding="utf-8")
    return rows


def found(data: Path) -> list[Path]:
    """Files of characters in a folder, in order."""
    files = (path for folder in FOLDERS for path in (data / folder).glob("*"))
    return sorted(path for path in files if path.suffix.lower() in KINDS)


def table(rows: list[dict], columns: dict[str, str]) -> str:
    """The markdown table, then failures and refusals."""
    lines = ["| " + " | ".join(columns) + " |", "| " + " | ".join("---" for _ in columns) + " |"]
    for row in rows:
        cells = (form.format(row[name]) if name in row else "" for name, form in columns.items())
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join([*lines, "", *notes(rows)]) + "\n"


def notes(rows: list[dict]) -> list[str]:
    """A line for each failure and refusal."""
    return [
        f"- {row['file']}: {text}" for row in rows for text in row.get("failed", []) + row.get("notes", [])
    ]


def run_one(script: Path, path: Path, options: argparse.Namespace, more: tuple[str, ...]) -> dict:
    """A character in a separate process: the report, or the exit without a report."""
    name = f"{path.parent.name}/{path.name}"
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        command = [
            sys.executable,
            str(script),
            str(path),
            "--report",
            str(report),
            "--frames",
            str(options.frames),
            *more,
        ]
        environment = {"BLENDER_USER_RESOURCES": str(Path(scratch) / "resources"), **os.environ}
        if options.extension is not None:
            environment["JOUNCE_EXTENSION"] = str(options.extension.resolve())
        try:
            run = subprocess.run(
                command,
                env=environment,
                timeout=options.limit,
                capture_output=True,
                text=True,
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            return {
                "file": name,
                "checks": "out of time",
                "failed": [f"not done after {options.limit:.0f} s"],
            }
        if options.verbose:
            print(run.stdout, run.stderr, sep="\n")
        if not report.exists():
            last = (run.stderr.strip() or run.stdout.strip() or "no output").splitlines()[-1]
            return {"file": name, "checks": "crashed", "failed": [f"exit code {run.returncode}: {last}"]}
        return {"file": name, **json.loads(report.read_text(encoding="utf-8"))}


def parser(description: str, frames: int = FRAMES) -> argparse.ArgumentParser:
    """The options of a run over all characters."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="markdown file for the table")
    parser.add_argument("--extension", type=Path, help="zip of the extension, instead of its sources")
    parser.add_argument("--only", default="", help="only files whose name contains this")
    parser.add_argument("--frames", type=int, default=frames)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds a character may take")
    parser.add_argument("--verbose", action="store_true", help="print what Blender prints")
    return parser


if __name__ == "__main__":
    sys.exit(main())
