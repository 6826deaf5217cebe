"""What scripts that shoot one character share: arguments, refusals, the report and the contact sheet."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import character as characters
import extension
import sheet
import studio

Shoot = Callable[[characters.Character, characters.Shot], tuple[dict, sheet.Take]]


def parser(doc: str, frames: int = 60) -> argparse.ArgumentParser:
    """The arguments that all take. doc: that of the script, whose first line says what it is."""
    made = argparse.ArgumentParser(description=doc.splitlines()[0])
    made.add_argument("file", type=Path)
    made.add_argument("--report", type=Path, required=True)
    made.add_argument("--frames", type=int, default=frames)
    made.add_argument("--sheets", type=Path, help="folder for the contact sheet")
    return made


def run(options: argparse.Namespace, shoot: Shoot) -> None:
    """Shoots the liveliest frames of the character and writes what was measured, or why it was not."""
    extension.enable()
    try:
        character = characters.load(options.file)
        report, take = shoot(character, characters.choose_shot(character, options.frames))
    except (characters.Unreadable, RuntimeError) as refusal:
        sentence = str(refusal).strip().removeprefix("Error: ")
        options.report.write_text(json.dumps({"notes": [f"refused: {sentence}"]}), encoding="utf-8")
        return
    options.report.write_text(json.dumps(report), encoding="utf-8")
    if options.sheets is not None:
        options.sheets.mkdir(parents=True, exist_ok=True)
        room = studio.Studio(character.body, take.framed(), studio.best_engine())
        picture = options.sheets / f"{options.file.stem}.png"
        sheet.contact_sheet(room, take, picture, picture.with_suffix(".part.png"))
        picture.with_suffix(".part.png").unlink()
