"""Measures cost and error of shards of real shots: a table for the page on farms.

    python measure.py FILE [FILE ...] [--frames 240] [--leads 24 48 96] [--quality DRAFT]

Runs in Blender's Python module, with the extension's sources or the zip named by JOUNCE_EXTENSION.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "examples" / "blender"), str(ROOT / "tests" / "blender")]


def main() -> None:
    """Prints a line of the table for each file and lead."""
    import character as characters
    import extension

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--frames", type=int, default=240)
    parser.add_argument("--leads", type=int, nargs="+", default=[24, 48, 96])
    parser.add_argument("--quality", default="DRAFT")
    options = parser.parse_args()
    extension.enable()
    for file in options.files:
        with tempfile.TemporaryDirectory() as folder:
            shot = Path(folder) / "shot.blend"
            name, vertices, last, size = prepared(characters, file, shot, options)
            for lead in options.leads:
                costs, error = measured(shot, lead, last, Path(folder) / f"{lead}")
                error /= size
                print(f"| {name} | {vertices:,} | {lead} | {costs} | {error:.1e} |", flush=True)


def prepared(
    characters: object, file: Path, shot: Path, options: argparse.Namespace
) -> tuple[str, int, int, float]:
    """Saves a built shot of a character; returns its name, vertices, last frame and size in metres."""
    import bpy
    import flesh
    import numpy as np
    from mathutils import Vector

    character = characters.load(file)
    frames = characters.choose_shot(character, options.frames)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = frames.first, frames.last
    flesh.select(character.body)
    bpy.ops.jounce.add()
    host = character.body[0]
    host.jounce.quality, host.jounce.target = options.quality, "MESH_CACHE"
    bpy.ops.jounce.build()
    bpy.ops.wm.save_as_mainfile(filepath=str(shot))
    vertices = sum(len(mesh.data.vertices) for mesh in character.body)
    corners = [mesh.matrix_world @ Vector(corner) for mesh in character.body for corner in mesh.bound_box]
    return character.name, vertices, frames.last, float(np.linalg.norm(np.ptp(corners, axis=0)))


def measured(shot: Path, lead: int, last: int, folder: Path) -> tuple[str, float]:
    """Cost of the second half of a shot, and its largest distance from the whole simulation, in metres."""
    import bpy
    import numpy as np

    bpy.ops.wm.open_mainfile(filepath=str(shot))
    middle = (bpy.context.scene.frame_start + last) // 2 + 1
    seconds, megabytes = timed(shot, folder / "part", middle, last, lead)
    timed(shot, folder / "whole", None, last, lead)
    (part,), (whole,) = (sorted((folder / name).glob("*.jshard")) for name in ("part", "whole"))
    pairs = zip(shapes(part, middle, last), shapes(whole, middle, last), strict=True)
    error = max(float(np.linalg.norm(one - other, axis=1).max()) for one, other in pairs)
    costs = f"{seconds:.1f} s | {megabytes:.0f} MB | {part.stat().st_size / 1e6:.1f} MB"
    return costs, error


def timed(shot: Path, folder: Path, start: int | None, end: int, lead: int) -> tuple[float, float]:
    """Seconds and peak memory in MB of a Blender process that simulates a shard."""
    first = [] if start is None else ["--start", str(start)]
    words = ["simulate", "--shards", str(folder), *first, "--end", str(end), "--lead", str(lead)]
    program = str(ROOT / "tests" / "blender" / "headless.py")
    started = time.monotonic()
    child = os.posix_spawn(sys.executable, [sys.executable, program, str(shot), *words], os.environ)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"{shot} cannot be simulated")
    return time.monotonic() - started, usage.ru_maxrss / 1e3


def shapes(path: Path, first: int, last: int) -> list:
    """Displacements of some frames of a shard: (p, 3) of the skin in a draft, (n, 3) of the final cage."""
    import bpy

    core = "jounce_addon.core." if "jounce_addon" in sys.modules else "bl_ext.user_default.jounce.core."
    files, bodies = sys.modules[f"{core}storage.final_cache"], sys.modules[f"{core}body.built_bodies"]
    kept = files.opened(files.FinalCache, path)
    if kept is not None:
        return [kept.get(frame) for frame in range(first, last + 1)]
    hosts = (obj for obj in bpy.context.scene.objects if obj.jounce.built_digest)
    body = bodies.CACHE.get(next(hosts).jounce.built_digest)
    draft = files.opened(files.DraftCache, path)
    return [body.model.displacement(draft.get(frame), body.embedding) for frame in range(first, last + 1)]


if __name__ == "__main__":
    code = 0
    try:
        main()
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    # Some versions of Blender hang or crash while they shut down.
    os._exit(code)
