"""Export Spring Bones in a window: progress in ticks, and Esc leaves neither files nor changes."""

import tempfile
from pathlib import Path

import scenes
import snapshot
from test_smoke import build_in_window, escape, stage_of

SPRINGS = "JOUNCE_OT_export_springs"


def test_escape_stops_the_export_and_then_it_runs_to_its_end(window):
    obj, _ = scenes.character()
    scenes.settle_scene(40)
    yield from build_in_window(window, obj)
    before, folder = snapshot.file_state(), Path(tempfile.mkdtemp())
    path = str(folder / "hero.glb")
    window.invoke("jounce.export_springs", filepath=path, fair=100.0, count=2)
    yield lambda: window.is_running(SPRINGS) and stage_of(SPRINGS, window) == "Fitting springs"
    yield from escape(window, SPRINGS)
    assert list(folder.iterdir()) == [] and snapshot.file_state() == before
    window.invoke("jounce.export_springs", filepath=path, fair=100.0, count=2)
    yield lambda: not window.is_running(SPRINGS)
    assert sorted(file.name for file in folder.iterdir()) == ["hero.glb", "hero.springs.json"]
    assert snapshot.file_state() == before
