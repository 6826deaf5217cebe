"""What a frame costs in the window, with the preview and without; the table is kept beside the pictures."""

import os
import sys
from pathlib import Path

import extension
from window import console

sys.path.insert(0, os.fspath(Path(__file__).resolve().parents[2] / "examples" / "blender"))

import frame_table

VERTICES = (10_000, 50_000)
BONES, FRAMES = 65, 12


def test_what_a_frame_costs(window):
    def view(obj):
        window.calm()
        window.look_at(obj)
        return window.redraw

    with console():
        tables = {n: frame_table.measure(extension.INSTALLED, n, BONES, FRAMES, view) for n in VERTICES}
    window.keep("frames.md", frame_table.markdown(tables))
    assert all(table["modes, bones"] == f"16, {BONES}" for table in tables.values())
