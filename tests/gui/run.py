"""Runs the tests of one file in the window of the Blender that started it.

    blender --factory-startup --enable-event-simulate --python run.py -- test_file.py out_folder

A test is a function `test_...(window)` that yields wherever the window must continue: a number of seconds, or
a predicate for the end of the wait. Each test starts in an empty file. Each result, and finally the total, is
reported as one line of JSON on standard output.
"""

import importlib.util
import json
import sys
import time
import traceback
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "blender"))

import extension
from window import Skip, Window

# Longest wait of a test for one condition.
PATIENCE_SECONDS = 120.0
# Interval between two queries of a condition.
POLL_SECONDS = 0.02

Test = Callable[[Window], Generator[float | Callable[[], bool], None, None] | None]


def report(**line: object) -> None:
    """Writes a line with the result."""
    print(json.dumps(line), flush=True)


def tests_of(path: Path) -> Iterator[Test]:
    """The tests of a file in order."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return (value for name, value in vars(module).items() if name.startswith("test_"))


def waits(test: Test, window: Window) -> Generator[float, None, None]:
    """Runs a test; yields the seconds until the continuation."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    yield 0.1
    for wait in test(window) or ():
        if not callable(wait):
            yield wait
            continue
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not wait():
            assert time.monotonic() < deadline, "waited in vain"
            yield POLL_SECONDS


def session(path: Path, window: Window) -> Generator[float, None, None]:
    """All tests of a file in sequence."""
    for test in tests_of(path):
        start, name = time.monotonic(), test.__name__
        try:
            yield from waits(test, window)
            outcome, why = "passed", ""
        except Skip as skip:
            outcome, why = "skipped", str(skip)
        except Exception:
            outcome, why = "failed", traceback.format_exc()
            window.screenshot(f"{path.stem}-{name}-failed")
        report(test=name, outcome=outcome, seconds=round(time.monotonic() - start, 2), why=why)
    report(finished=path.stem)


def main(path: Path, out: Path) -> None:
    """Enables the extension and starts the tests, driven by a timer."""
    preferences = bpy.context.preferences
    preferences.view.show_splash = False
    preferences.use_preferences_save = False
    extension.enable()
    steps = session(path, Window(out))

    def go_on() -> float | None:
        try:
            return next(steps)
        except StopIteration:
            bpy.ops.wm.quit_blender()
        except BaseException:
            report(test="session", outcome="failed", seconds=0.0, why=traceback.format_exc())
            bpy.ops.wm.quit_blender()
        return None

    bpy.app.timers.register(go_on, first_interval=0.5, persistent=True)


main(*(Path(argument).resolve() for argument in sys.argv[sys.argv.index("--") + 1 :]))
