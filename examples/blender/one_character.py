"""Shared parts of the scripts for one character: arguments, errors, the report and the contact sheet."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import bpy
import character as characters
import extension
import numpy as np
import sheet
import studio

Measure = Callable[[str, characters.Character, characters.Shot], dict]
Choose = Callable[[characters.Character, int], characters.Shot]
Shoot = Callable[[str, characters.Character, characters.Shot], tuple[dict, sheet.Take]]


def parser(doc: str, frames: int) -> argparse.ArgumentParser:
    """Common arguments. doc: the script's docstring, whose first line is the description."""
    made = argparse.ArgumentParser(description=doc.splitlines()[0])
    made.add_argument("file", type=Path)
    made.add_argument("--report", type=Path, required=True)
    made.add_argument("--frames", type=int, default=frames)
    return made


def shooting_parser(doc: str) -> argparse.ArgumentParser:
    """As `parser`, for scripts that make a contact sheet."""
    made = parser(doc, frames=60)
    made.add_argument("--sheets", type=Path, help="folder for the contact sheet")
    return made


def take(
    character: characters.Character, shot: characters.Shot, posed: sheet.Shapes, fleshed: sheet.Shapes
) -> sheet.Take:
    """A shot recorded without and with flesh, named after the character and its action."""
    render = bpy.context.scene.render
    size = float(np.linalg.norm(np.ptp(np.concatenate(posed[0]), axis=0)))
    title = f"{character.name.replace('_', ' ')}: {shot.action.name.split('|')[-1]}"
    return sheet.Take(title, shot.first, render.fps / render.fps_base, size, posed, fleshed)


def measure(options: argparse.Namespace, measured: Measure, choose: Choose = characters.choose_shot) -> None:
    """Writes measurements of the liveliest frames of the character, or the reason for their absence.

    measured: function that also takes the extension's package. choose: gives other frames than the liveliest.
    """
    package = extension.enable().__name__
    try:
        character = characters.load(options.file)
        report = measured(package, character, choose(character, options.frames))
    except (characters.Unreadable, RuntimeError) as refusal:
        report = {"notes": [f"refused: {str(refusal).strip().removeprefix('Error: ')}"]}
    options.report.write_text(json.dumps(report), encoding="utf-8")


def shoot(options: argparse.Namespace, shot_of: Shoot, choose: Choose = characters.choose_shot) -> None:
    """As `measure`, with a contact sheet if a folder is given for it."""

    def measured(package: str, character: characters.Character, shot: characters.Shot) -> dict:
        report, take = shot_of(package, character, shot)
        if options.sheets is not None:
            photograph(options.sheets / f"{options.file.stem}.png", character, take)
        return report

    measure(options, measured, choose)


def photograph(picture: Path, character: characters.Character, take: sheet.Take) -> None:
    """Makes the contact sheet of a take."""
    picture.parent.mkdir(parents=True, exist_ok=True)
    take = take.in_place()
    room = studio.Studio(character.body, take.framed(), studio.best_engine())
    sheet.contact_sheet(room, take, picture, picture.with_suffix(".part.png"))
    picture.with_suffix(".part.png").unlink()
