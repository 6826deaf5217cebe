"""Sends a baked character out of Blender and in again, and measures the error of its shapes.

    python exports.py FILE [FILE ...] --out table.md [--extension ZIP] [--frames 60]

For each file and way out one row: the largest distance of any vertex in any frame, as a fraction of the
size. The ways are those of the user guide.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import bpy
import numpy as np
from mathutils.kdtree import KDTree

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

CANDIDATES = 8
HEADING = "| character | file | bake | error | size |\n| --- | --- | --- | --- | --- |"


@dataclass(frozen=True)
class Way:
    """An export and import. target: the exported bake. The selected objects are exported."""

    target: str
    suffix: str
    export: Callable[[str], None]
    read: Callable[[str], None]


def export_gltf(path: str) -> None:
    """All active actions as one animation, with armature and keys together."""
    bpy.ops.export_scene.gltf(
        filepath=path,
        use_selection=True,
        export_animation_mode="ACTIVE_ACTIONS",
        export_all_influences=True,
    )


def export_gltf_bones(path: str) -> None:
    """The active action; four bones a vertex, as the exporter does by itself."""
    bpy.ops.export_scene.gltf(filepath=path, use_selection=True, export_animation_mode="ACTIVE_ACTIONS")


def export_alembic(path: str) -> None:
    """Whole shapes over the scene's frames."""
    scene = bpy.context.scene
    bpy.ops.wm.alembic_export(filepath=path, start=scene.frame_start, end=scene.frame_end, selected=True)


def export_usd(path: str, rigged: bool) -> None:
    """A skinned mesh with blend shapes, or whole shapes."""
    bpy.ops.wm.usd_export(
        filepath=path,
        selected_objects_only=True,
        export_animation=True,
        export_armatures=rigged,
        export_shapekeys=rigged,
    )


def export_fbx(path: str) -> None:
    """The active actions alone, every frame."""
    bpy.ops.export_scene.fbx(
        filepath=path,
        use_selection=True,
        bake_anim_use_all_actions=False,
        bake_anim_use_nla_strips=False,
        bake_anim_simplify_factor=0.0,
    )


def import_fbx(path: str) -> None:
    """With the first frame unchanged."""
    bpy.ops.import_scene.fbx(filepath=path, anim_offset=0.0)


WAYS = {
    "glTF": Way("MODAL_KEYS", ".glb", export_gltf, lambda path: bpy.ops.import_scene.gltf(filepath=path)),
    "FBX": Way(
        "MODAL_KEYS",
        ".fbx",
        export_fbx,
        import_fbx,
    ),
    "glTF, bones": Way(
        "HELPER_BONES", ".glb", export_gltf_bones, lambda path: bpy.ops.import_scene.gltf(filepath=path)
    ),
    "FBX, bones": Way("HELPER_BONES", ".fbx", export_fbx, import_fbx),
    "USD, rigged": Way(
        "MODAL_KEYS",
        ".usdc",
        lambda path: export_usd(path, rigged=True),
        lambda path: bpy.ops.wm.usd_import(filepath=path),
    ),
    "USD, shapes": Way(
        "SKINNING_NODES",
        ".usdc",
        lambda path: export_usd(path, rigged=False),
        lambda path: bpy.ops.wm.usd_import(filepath=path),
    ),
    "Alembic": Way(
        "SKINNING_NODES",
        ".abc",
        export_alembic,
        lambda path: bpy.ops.wm.alembic_import(filepath=path, as_background_job=False),
    ),
}


def going_out(
    target: str, meshes: list[bpy.types.Object], armature: bpy.types.Object
) -> tuple[list[bpy.types.Object], bpy.types.Object]:
    """The baked meshes and the armature, or their copies with helper bones."""
    if target != "HELPER_BONES":
        return meshes, armature
    copies = [mesh.jounce.bake_copy for mesh in meshes]
    return copies, copies[0].parent


def there_and_back(way: Way, path: str, shapes: Callable[[list[bpy.types.Object]], np.ndarray]) -> np.ndarray:
    """Exports the selected objects, empties the file, imports, and gives the shapes of the meshes there."""
    way.export(path)
    rate = (bpy.context.scene.render.fps, bpy.context.scene.render.fps_base)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    # Importers count frames in the rate of the scene.
    bpy.context.scene.render.fps, bpy.context.scene.render.fps_base = rate
    way.read(path)
    shown_as_bones = {
        bone.custom_shape for obj in bpy.data.objects if obj.pose is not None for bone in obj.pose.bones
    }
    return shapes([obj for obj in bpy.data.objects if obj.type == "MESH" and obj not in shown_as_bones])


def distance(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest distance of found paths (f, q, 3) from the best matching expected ones (f, p, 3).

    Exporters split vertices at seams and may reorder them: among the expected vertices nearest in the first
    frame, the one that stays nearest counts.
    """
    tree = KDTree(expected.shape[1])
    for index, point in enumerate(expected[0]):
        tree.insert(point, index)
    tree.balance()
    count = min(CANDIDATES, expected.shape[1])
    near = np.array([[index for _, index, _ in tree.find_n(point, count)] for point in found[0]])
    gaps = [np.linalg.norm(found - expected[:, column], axis=2).max(axis=0) for column in near.T]
    return float(np.min(gaps, axis=0).max())


def main() -> None:
    """Runs each way for each file in a separate process, or with the option, one way here."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--extension", type=Path, help="zip of the extension, instead of its sources")
    parser.add_argument("--out", type=Path, help="markdown file for the table")
    parser.add_argument("--way", choices=WAYS, help="only this one, in this process")
    options = parser.parse_args()
    if options.way:
        print(line(options.files[0], options.way, options.frames))
        return
    if options.extension is not None:
        os.environ["JOUNCE_EXTENSION"] = str(options.extension.resolve())
    rows = [HEADING]
    for file in options.files:
        for way in WAYS:
            command = [sys.executable, __file__, str(file), "--way", way, "--frames", str(options.frames)]
            run = subprocess.run(command, capture_output=True, text=True, errors="replace")
            lines = [text for text in run.stdout.splitlines() if text.startswith("|")]
            rows += lines[-1:] or [f"| {file.stem} | {way} |  | {run.stderr.strip()[-200:]} |  |"]
            print(rows[-1], flush=True)
    if options.out is not None:
        options.out.write_text("\n".join(rows) + "\n", encoding="utf-8")


def line(file: Path, name: str, frames: int) -> str:
    """One character, one way: a line of the table."""
    import bakes
    import character as characters
    import extension
    import flesh
    import studio

    extension.enable()
    way = WAYS[name]
    character = characters.load(file)
    shot = characters.choose_shot(character, frames)
    flesh.select(character.body)
    bpy.ops.jounce.add()
    bpy.ops.jounce.build()
    bpy.ops.jounce.bake(target=way.target, frame_start=shot.first, frame_end=shot.last)

    def shapes(meshes: list[bpy.types.Object]) -> np.ndarray:
        return np.stack([np.concatenate(shape) for shape in studio.record(meshes, shot.frames)])

    meshes, armature = going_out(way.target, character.body, character.armature)
    expected = shapes(meshes)
    size = float(np.linalg.norm(np.ptp(expected[0], axis=0)))
    flesh.select([*meshes, armature])
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / f"character{way.suffix}"
        found = there_and_back(way, str(path), shapes)
        megabytes = path.stat().st_size / 1e6
    error = distance(found, expected) / size
    target = bakes.TARGETS.get(way.target, "Helper Bones")
    return f"| {file.stem} | {name} | {target} | {error:.2e} | {megabytes:.1f} MB |"


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    # Blender 4.2 crashes at exit after a glTF export; the result is written.
    os._exit(0)
