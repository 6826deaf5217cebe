"""Costs of a frame in the window, with and without the preview; the table is kept beside the pictures."""

import os
import sys
from pathlib import Path

import extension
from window import console

sys.path.insert(0, os.fspath(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import frame_table

BONES, FRAMES = 65, 8

tables = {}


def measure(window, vertices):
    """Adds a column to the table."""

    def view(obj):
        window.calm()
        window.look_at(obj)
        return window.redraw

    with console():
        tables[vertices] = frame_table.measure(extension.INSTALLED, vertices, BONES, FRAMES, view)
    window.keep("frames.md", frame_table.markdown(tables))
    assert tables[vertices]["modes, bones"] == f"16, {BONES}"


def test_what_a_frame_of_10_000_vertices_costs(window):
    measure(window, 10_000)


def test_what_a_frame_of_50_000_vertices_costs(window):
    measure(window, 50_000)
