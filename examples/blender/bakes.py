"""Measures every kind of bake on real characters: size, accuracy and playback speed.

    python bakes.py FILE [FILE ...] --extension dist/jounce-0.1.0.zip --out docs/addon/bakes.md [--frames 60]

Sizes are the growth of an uncompressed .blend, plus its cache file, by a bake. Times are the growth of a
frame of the same scene, measured without and with the bake in immediate succession.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))

import character as characters
import flesh
import script

TARGETS = {
    "MODAL_KEYS": "Modal Shape Keys",
    "FRAME_KEYS": "One Shape Key a Frame",
    "SKINNING_NODES": "Skinning Nodes",
    "MESH_CACHE": "Mesh Cache",
}
PASSES = 4
COUNTS = (4, 8, 16, 32, 64)
HEADING = """# Bakes, measured

Made by `examples/blender/bakes.py` with Blender {version}: {frames} frames a character, as drafts
with the settings of *Add Jounce*. *Error*: largest distance of any vertex in any frame from the simulated
shape, as a fraction of the size, as reported by the bake. *Size*: growth of an uncompressed .blend, cache
file included. *Playback*: additional processor time per frame; the first row of each character is a frame
without a bake.

| character | vertices | bake | made of | error | size | playback |
| --- | --- | --- | --- | --- | --- | --- |
"""
BONES_HEADING = """
## Helper bones

The same frames with bones alone, at most four a vertex. *Error*: distance of the copy from the simulated
shape, as a fraction of the size, over all vertices and frames: root of the mean square, and largest.
*glTF*: the exported copy; the first row of each character is its body with modal shape keys.

| character | helper bones | mean error | largest error | glTF |
| --- | --- | --- | --- | --- |
"""


def main() -> None:
    """Measures all files and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--extension", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--frames", type=int, default=60)
    options = parser.parse_args()
    flesh.enable(options.extension)
    text = HEADING.format(version=bpy.app.version_string, frames=options.frames)
    bones = BONES_HEADING
    with tempfile.TemporaryDirectory() as folder:
        for file in options.files:
            character = characters.load(file)
            shot = characters.choose_shot(character, options.frames)
            for cells in rows(character, shot, Path(folder)):
                text += line(cells)
            for cells in bone_rows(character, shot, Path(folder)):
                bones += line(cells)
    options.out.write_text(text + bones, encoding="utf-8")


def line(cells: list[str]) -> str:
    """A line of a table."""
    print(cells, flush=True)
    return f"| {' | '.join(cells)} |\n"


def rows(character: characters.Character, shot: characters.Shot, folder: Path) -> list[list[str]]:
    """Cells of one character: without a bake, then with every kind."""
    meshes = character.body
    vertices = sum(len(mesh.data.vertices) for mesh in meshes)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = shot.first, shot.last
    host = flesh.added(character.armature, meshes, shot.first)
    host.jounce.cache_folder = str(folder)
    bpy.ops.jounce.preview(show="POSE")
    bare_bytes = saved(folder)
    table = [[character.name, f"{vertices:,}", "none", "", "", "", f"{1e3 * frame_seconds(shot):.1f} ms"]]
    for target, label in TARGETS.items():
        bare = frame_seconds(shot)
        bpy.ops.jounce.bake(target=target, frame_start=shot.first, frame_end=shot.last)
        size, added = saved(folder) - bare_bytes, frame_seconds(shot) - bare
        state = host.jounce
        cells = [
            state.bake_parts,
            f"{state.bake_error:.1e}",
            f"{size / 1e6:.1f} MB",
            f"{round(1e3 * added, 1) + 0.0:+.1f} ms",
        ]
        table.append(["", "", label, *cells])
        bpy.ops.jounce.free_bake()
    return table


def bone_rows(character: characters.Character, shot: characters.Shot, folder: Path) -> list[list[str]]:
    """Cells of one built character: as modal keys, then with increasing numbers of helper bones."""
    meshes = character.body
    host = next(mesh for mesh in meshes if mesh.jounce.is_host)
    flesh.select(meshes)
    bpy.ops.jounce.bake(target="MODAL_KEYS")
    size = exported([*meshes, character.armature], folder)
    table = [[character.name, "none, modal keys", "", f"{host.jounce.bake_error:.1e}", size]]
    for count in COUNTS:
        flesh.select(meshes)
        host.jounce.helper_count = count
        bpy.ops.jounce.bake(target="HELPER_BONES")
        mean = host.jounce.bake_parts.split(", ")[1].split("%")[0]
        copies = [mesh.jounce.bake_copy for mesh in meshes]
        size = exported([*copies, copies[0].parent], folder)
        error = f"{host.jounce.bake_error:.1e}"
        table.append(["", str(count), f"{float(mean) / 100.0:.1e}", error, size])
    return table


def exported(objects: list[bpy.types.Object], folder: Path) -> str:
    """Size of the objects as a glTF file, without textures."""
    flesh.select(objects)
    path = folder / "size.glb"
    bpy.ops.export_scene.gltf(
        filepath=str(path),
        use_selection=True,
        export_animation_mode="ACTIVE_ACTIONS",
        export_all_influences=True,
        export_image_format="NONE",
    )
    return f"{path.stat().st_size / 1e6:.1f} MB"


def frame_seconds(shot: characters.Shot) -> float:
    """Processor time per frame of playback, mean of the fastest pass."""
    scene = bpy.context.scene
    passes = []
    for _ in range(PASSES):
        started = time.process_time()
        for frame in shot.frames:
            scene.frame_set(frame)
        passes.append((time.process_time() - started) / len(shot.frames))
    return min(passes)


def saved(folder: Path) -> int:
    """Bytes of the file, and of the caches in a folder."""
    path = folder / "size.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=False)
    return path.stat().st_size + sum(cache.stat().st_size for cache in folder.glob("*.pc2"))


if __name__ == "__main__":
    script.run(main)
