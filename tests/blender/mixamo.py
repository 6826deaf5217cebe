"""Puts every clip of a folder onto every character of another, bakes it, and prints a table.

    python mixamo.py DATA_DIR [--out TABLE.md] [--extension ZIP] [--only NAME] [--clip NAME]
        [--target MODAL_KEYS]

DATA_DIR holds the folders mixamo and mixamo_anim_only. Each character has a process of its own. A bake passes
if it follows to the tolerance, with as many keys as that takes, and the flesh moves, but by less than the
limit. The exit code is the number of bakes that did not.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

KINDS = {".fbx", ".glb", ".blend"}
HEADING = (
    "| character | vertices | clip | bones | frames | bake s | keys | error | largest motion | verdict |\n"
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
)
# More than a bake's tolerance.
LEAST_MOTION = 5e-3
MOST_KEYS = 1000


def main() -> int:
    """Runs each character in a process, or with the option, one here."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--extension", type=Path)
    parser.add_argument("--out", type=Path, help="markdown file for the table")
    parser.add_argument("--only", default="", help="only characters whose name contains this")
    parser.add_argument("--clip", default="", help="only clips whose name contains this")
    parser.add_argument("--target", default="MODAL_KEYS")
    parser.add_argument("--here", type=Path, help="this character alone, in this process")
    options = parser.parse_args()
    if options.here:
        character(options.here, options.data / "mixamo_anim_only", options.target, options.clip)
        return 0
    failed, rows = 0, [HEADING]
    print(HEADING, flush=True)
    for path in sorted((options.data / "mixamo").iterdir()):
        if path.suffix.lower() not in KINDS or options.only not in path.name:
            continue
        lines = run(path, options)
        failed += sum(not line.endswith("passed |") for line in lines)
        rows += lines
        print("\n".join(lines), flush=True)
    if options.out is not None:
        options.out.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return failed


def run(path: Path, options: argparse.Namespace) -> list[str]:
    """The lines of one character."""
    environment = dict(os.environ)
    if options.extension is not None:
        environment["JOUNCE_EXTENSION"] = str(options.extension.resolve())
    command = [sys.executable, __file__, str(options.data), "--here", str(path), "--target", options.target]
    command += ["--clip", options.clip]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace")
    lines = [line for line in done.stdout.splitlines() if line.startswith("|")]
    if done.returncode != 0:
        last = (done.stderr.strip() or "no output").splitlines()[-1]
        lines.append(f"| {path.name} | | | | | | | | | {last} |")
    return lines


def character(path: Path, folder: Path, target: str, only: str) -> None:
    """Adds Jounce to a character and bakes every clip with a text in its name."""
    import character as characters
    import extension
    import flesh

    extension.enable()
    loaded = characters.load(path)
    flesh.select([loaded.armature])
    bpy.ops.jounce.setup()
    host = next(mesh for mesh in loaded.body if mesh.jounce.is_host)
    members = [mesh for mesh in loaded.body if mesh == host or mesh.jounce.host == host]
    host.jounce.max_keys, host.jounce.quality = MOST_KEYS, "DRAFT"
    # A bake is compared with the pose alone.
    bpy.ops.jounce.preview()
    assert not host.jounce.preview
    scene = bpy.context.scene
    scene.jounce.clip_folder = str(folder)
    bpy.ops.jounce.clips_list()
    vertices = sum(len(mesh.data.vertices) for mesh in members)
    for index, clip in enumerate(scene.jounce.clips):
        if only not in clip.name:
            continue
        scene.jounce.clip_index = index
        cells = [path.name, f"{vertices:,}", clip.name]
        try:
            cells += baked(host, members, loaded.armature, target)
        except RuntimeError as refusal:
            cells += [""] * 6 + [str(refusal).strip()]
        print(f"| {' | '.join(cells)} |", flush=True)


def baked(
    host: bpy.types.Object, members: list[bpy.types.Object], armature: bpy.types.Object, target: str
) -> list[str]:
    """The cells of one clip on one character."""
    import studio

    scene = bpy.context.scene
    bpy.ops.jounce.clip_assign()
    frames = range(scene.frame_start, scene.frame_end + 1)
    posed = studio.record(members, frames)
    started = time.perf_counter()
    bpy.ops.jounce.bake(target=target)
    seconds = time.perf_counter() - started
    fleshed = studio.record(members, frames)
    size = float(np.linalg.norm(np.ptp(np.concatenate(posed[0]), axis=0)))
    motion = max(
        float(np.linalg.norm(np.concatenate(a) - np.concatenate(b), axis=1).max()) / size
        for a, b in zip(fleshed, posed, strict=True)
    )
    state = host.jounce
    names = {curve.data_path.split('"')[1] for curve in curves_of(armature) if '"' in curve.data_path}
    most = 1.5 * state.limit / 100.0 + state.bake_error
    passed = LEAST_MOTION < motion < most and state.bake_error <= state.tolerance / 100.0
    cells = [
        f"{len(names)} of {len(armature.data.bones)}",
        str(len(frames)),
        f"{seconds:.1f}",
        state.bake_parts,
        f"{state.bake_error:.2%}",
        f"{motion:.1%}",
        "passed" if passed else "FAILED",
    ]
    bpy.ops.jounce.free_bake()
    return cells


def curves_of(armature: bpy.types.Object) -> list[bpy.types.FCurve]:
    """The F-curves of the action of an armature."""
    import snapshot

    return list(snapshot.fcurves(armature.animation_data.action))


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Blender's exit handlers can hang; the table is written.
    os._exit(code)
