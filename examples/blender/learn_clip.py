"""Report of *Learn This Shot* for a character's most energetic clip, as set up by *Add Jounce*, in a table.

    python learn_clip.py FILE [--frames 120] [--unlimited]

For 32 and 64 displacements it states the distance from the final motion of the draft, of the learnt model and
of frames outside the training, the numbers of tets and vertices with limits, and the seconds of learning from
an existing final motion.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import character as characters
import extension
import flesh
import script


def main() -> None:
    """Learns the clip twice, and prints a row for each number of displacements."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--frames", type=int, default=120)
    parser.add_argument("--unlimited", action="store_true")
    options = parser.parse_args()
    lessons = importlib.import_module(f"{extension.enable().__name__}.bridge.motions.learnt_store")
    character = characters.load(options.file)
    shot = characters.choose_shot(character, options.frames)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = shot.first, shot.last
    flesh.select([character.armature])
    bpy.ops.jounce.setup()
    host = next(mesh for mesh in character.body if mesh.jounce.is_host)
    if options.unlimited:
        host.jounce.use_stretch = host.jounce.use_limit = False
    with tempfile.TemporaryDirectory() as folder:
        # Final frames are cached beside the file.
        bpy.ops.wm.save_as_mainfile(filepath=str(Path(folder) / "clip.blend"))
        flesh.select([host])
        bpy.ops.jounce.learn()
        for count in ("32", "64"):
            print(row(lessons, host, count), flush=True)


def row(lessons: ModuleType, host: bpy.types.Object, count: str) -> str:
    """Report for this number of displacements."""
    host.jounce.displacements = count
    started = time.perf_counter()
    bpy.ops.jounce.learn()
    seconds = time.perf_counter() - started
    known = lessons.of(host)
    facts = known.facts
    shares = " | ".join(f"{share:.1%}" for share in (facts.draft_error, facts.error, facts.held_out or 0.0))
    samples = f"{len(known.limit_tets)} | {len(known.limit_vertices)}"
    return f"| {host.name} | {count} | {shares} | {samples} | {seconds:.1f} |"


if __name__ == "__main__":
    script.run(main)
