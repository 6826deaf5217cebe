"""Time of *Add Jounce* in the window, against the same work as a whole.

Both ways in turn, in one session; the table is kept beside the pictures, as speed.md.
"""

import importlib
import os
import statistics
import sys
import time
from pathlib import Path

import bpy
import extension
from window import Skip, console

sys.path.insert(0, os.fspath(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import character as characters
import flesh
import newcomer

ROUNDS = 3
# The viewport keeps drawing for a while, until its edges are smooth.
CALM_SECONDS = 3.0
COLUMNS = ["character", "vertices", "at once s", "in the window s", "ratio"]


def fresh(path, least, window):
    """A character with at least this number of vertices, selected and visible, without data in memory."""
    importlib.import_module(f"{extension.INSTALLED}.core.body.built_bodies").CACHE.clear()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    yield 0.2
    with console(), window.context():
        characters.read(path)
    character = characters.find(path.stem)
    newcomer.finer(character, least)
    window.show_sidebar()
    window.look_at(character.body[0])
    flesh.select([character.armature])
    yield CALM_SECONDS
    return character


def at_once(window):
    """Adds Jounce to the end, like a script."""
    with window.context():
        bpy.ops.jounce.setup()
    yield from ()


def in_ticks(window):
    """Adds as the button does."""
    window.invoke("jounce.setup")
    yield lambda: not window.is_running("JOUNCE_OT_setup")


def added(way, path, least, window):
    """The seconds of one way, the result, and the number of vertices."""
    character = yield from fresh(path, least, window)
    start = time.monotonic()
    yield from way(window)
    seconds = time.monotonic() - start
    host = next(mesh for mesh in character.body if mesh.jounce.is_host)
    made = host.jounce.built_digest, host.jounce.frequency
    return seconds, made, sum(len(mesh.data.vertices) for mesh in character.body)


def compare(name, least, window):
    """Adds a row to the table: the medians of both ways, and of their ratios."""
    path = Path(os.environ.get("JOUNCE_DATA", "/nowhere")) / name
    if not path.exists():
        raise Skip("JOUNCE_DATA is not set, so there are no characters.")
    times = []
    for _ in range(ROUNDS):
        alone, made, vertices = yield from added(at_once, path, least, window)
        shown, same, _ = yield from added(in_ticks, path, least, window)
        assert same == made
        times.append((alone, shown))
    medians = [statistics.median(each) for each in zip(*times, strict=True)]
    ratio = statistics.median(shown / alone for alone, shown in times)
    numbers = (*medians, ratio)
    window.note("speed.md", COLUMNS, [path.name, vertices, *(f"{number:.2f}" for number in numbers)])


def test_a_small_character(window):
    yield from compare("open_creature/Fox.glb", 0, window)


def test_a_character_of_15_000_vertices(window):
    yield from compare("open_humanoid/Smooth_Male_Suit.fbx", 15_000, window)
