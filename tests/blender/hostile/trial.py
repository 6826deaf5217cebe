"""Plays a row without and with Jounce, and reports the findings."""

import contextlib
import io
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import snapshot

from . import state
from .hand import Hand, Jounce
from .row import SENTENCE, WORKS, Row

# Largest number of shown lines of a difference.
MOST_LINES = 12


@dataclass(frozen=True)
class Outcome:
    """Result of a row. problems: deviations; none for a row as expected."""

    row: Row
    found: str
    problems: list[str]


def run(row: Row, folder: Path) -> Outcome:
    """Plays a row in an empty folder."""
    with away():
        without, _ = play(row.scene, Hand(made(folder / "without")))
    before, hand = handlers(), Jounce(made(folder / "with"))
    with_it, problems = play(row.scene, hand)
    if not problems:
        problems = snapshot.differences(without, with_it)[:MOST_LINES]
        problems += [f"{handler} was left" for handler in handlers() - before]
    found = "; ".join(hand.sentences) if hand.sentences else f"works, off by {hand.error:.2%} at most"
    if not problems and (SENTENCE if hand.sentences else WORKS) != row.expected:
        problems = [f"expected that it {row.expected}, but it {found}"]
    return Outcome(row, found if not problems else "fails", problems)


def made(folder: Path) -> Path:
    """A new folder."""
    folder.mkdir(parents=True)
    return folder


def play(scene: Callable[[Hand], None], hand: Hand) -> tuple[dict[str, Any], list[str]]:
    """Contents of the file and its folder after a scene, and errors during it."""
    empty_file()
    problems: list[str] = []
    with listening(problems):
        try:
            scene(hand)
            hand.finish()
        except Exception:
            problems.append(traceback.format_exc())
        for shown in bpy.data.scenes:
            shown.frame_set(shown.frame_current, subframe=shown.frame_subframe)
        if bpy.data.filepath:
            # Freed caches stay until the file is saved without them, or for an unsaved file, closed.
            bpy.ops.wm.save_mainfile()
    found = state.whole_file(str(hand.folder))
    empty_file()
    files = sorted(str(path.relative_to(hand.folder)) for path in hand.folder.rglob("*"))
    return found | {"files": files}, problems


def empty_file() -> None:
    """A new file without objects."""
    active = bpy.context.view_layer.objects.active
    if active is not None and active.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)


@contextlib.contextmanager
def listening(problems: list[str]) -> Iterator[None]:
    """Collects the tracebacks printed by handlers, panels and finalisers."""
    errors, hook = io.StringIO(), sys.unraisablehook
    sys.unraisablehook = sys.__unraisablehook__
    try:
        with contextlib.redirect_stderr(errors):
            yield
    finally:
        sys.unraisablehook = hook
    if "Traceback" in errors.getvalue():
        problems.append(errors.getvalue())


@contextlib.contextmanager
def away() -> Iterator[None]:
    """Context without any call of Jounce, as in a Blender without it."""
    taken = [(calls, list(calls)) for calls in lists().values()]
    for calls, before in taken:
        calls[:] = [call for call in before if "jounce" not in call.__module__]
    try:
        yield
    finally:
        for calls, before in taken:
            calls[:] = before


def handlers() -> set[str]:
    """The extension's handlers, by kind and name."""
    return {
        f"{kind} {call.__module__}.{call.__name__}"
        for kind, calls in lists().items()
        for call in calls
        if "jounce" in call.__module__
    }


def lists() -> dict[str, list[Callable[..., None]]]:
    """Blender's handler lists, by kind."""
    kinds = {kind: getattr(bpy.app.handlers, kind) for kind in dir(bpy.app.handlers)}
    return {kind: calls for kind, calls in kinds.items() if isinstance(calls, list)}
