"""Records a character for the players of engines: a GLB file, and the preview of its draft.

    python players.py FOLDER [--stretch 40] [--extension ZIP] [--frames 300]

The folder then has hero.glb of *Export for Games*; the displacements of its points in all frames as the
preview shows them (preview) and as the Python player makes them (python); and for players that read no GLB
the model, its points, poses and settings. All are little-endian floats: points and displacements of 32 bits,
poses and settings of 64. The last line is a JSON object with sizes and times.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "blender"))

RESOLUTION = 44
# Rounds of the creature's action: more than three hundred frames.
ROUNDS = 6
# From the axes of Blender to those of glTF.
TO_GLTF = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
SETTINGS = ("amount", "stiffness", "damping", "stretch", "limit", "gravity", "poseRest", "substep")


def exported(path: Path, frames: int, stretch: float) -> tuple[list[bpy.types.Object], bpy.types.Object]:
    """The creature with a body, in a GLB file: the meshes of the body, and its host.

    stretch: *Maximum Stretch* in percent, 0 for none.
    """
    import creature
    import flesh

    made = creature.build(RESOLUTION, ROUNDS)
    bpy.context.scene.frame_end = bpy.context.scene.frame_start + frames - 1
    meshes = [made.body, *made.parts]
    flesh.select(meshes)
    bpy.ops.jounce.setup()
    host = made.body
    host.jounce.quality = "DRAFT"
    host.jounce.use_stretch, host.jounce.stretch = stretch > 0.0, max(stretch, 1.0)
    bpy.ops.jounce.export_games(filepath=str(path))
    return meshes, host


def previewed(meshes: list[bpy.types.Object], frames: range) -> np.ndarray:
    """Displacements (f, p, 3) of the draft as it is shown."""
    import scenes

    def shapes() -> np.ndarray:
        return np.concatenate([scenes.evaluated_frames(mesh, frames) for mesh in meshes], axis=1)

    bpy.ops.jounce.preview(show="POSE")
    posed = shapes()
    bpy.ops.jounce.preview(show="FLESH")
    bpy.ops.jounce.fill_cache()
    return shapes() - posed


def nearest(points: np.ndarray, meshes: list[bpy.types.Object]) -> np.ndarray:
    """The vertex (p,) of the meshes at each rest point (p, 3)."""
    from mathutils.kdtree import KDTree

    rest = []
    for mesh in meshes:
        matrix = np.array(mesh.jounce.bind_matrix).reshape(4, 4)
        local = np.array([vertex.co for vertex in mesh.data.vertices])
        rest.append(local @ matrix[:3, :3].T + matrix[:3, 3])
    rest = np.concatenate(rest)
    tree = KDTree(len(rest))
    for index, place in enumerate(rest):
        tree.insert(place, index)
    tree.balance()
    found = np.array([tree.find(point)[1] for point in points])
    gap = np.abs(rest[found] - points).max()
    if gap > 1e-5:
        raise SystemExit(f"a point of the file is {gap:.1e} m from the nearest vertex")
    return found


def played(path: Path, folder: Path, frames: int, seconds: float) -> tuple[np.ndarray, dict[str, float]]:
    """The rest points, and the times of the Python player; writes its displacements and what others need."""
    from jounce import gltf

    character = gltf.read(path)
    (body,) = character.bodies
    points = np.concatenate(character.rest_points(body))
    player = body.player(points)
    start, _ = character.span()
    poses = np.array([body.pose(character.worlds(start + frame * seconds)) for frame in range(frames)])
    shown, steps, displaced = [], [], []
    for pose in poses:
        begin = time.perf_counter()
        player.step(pose, seconds)
        middle = time.perf_counter()
        shown.append(player.displacements())
        steps.append(middle - begin)
        displaced.append(time.perf_counter() - middle)
    own = {"gravity": (0.0, 0.0, 0.0)} | dict(body.settings)
    numbers = [np.atleast_1d(own[name]) for name in SETTINGS]
    (folder / "model").write_bytes(body.model)
    for name, array, kind in (
        ("points", points, "<f4"),
        ("poses", poses, "<f8"),
        ("settings", np.concatenate(numbers), "<f8"),
        ("python", np.array(shown), "<f4"),
    ):
        (folder / name).write_bytes(np.asarray(array, kind).tobytes())
    micros = {"step": 1e6 * float(np.median(steps)), "displace": 1e6 * float(np.median(displaced))}
    counts = {"points": len(points), "bones": poses.shape[1], "modes": player.mode_count}
    return points, micros | counts | {"start": start}


def main() -> None:
    """Records the creature."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--stretch", type=float, default=0.0, help="Maximum Stretch in percent, 0 for none")
    parser.add_argument("--extension", type=Path, help="zip of the extension")
    options = parser.parse_args()
    import flesh

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    flesh.enable(options.extension)
    options.folder.mkdir(parents=True, exist_ok=True)
    path = options.folder / "hero.glb"
    meshes, host = exported(path, options.frames, options.stretch)
    scene = bpy.context.scene
    seconds = scene.render.fps_base / scene.render.fps
    points, told = played(path, options.folder, options.frames, seconds)
    flesh.select([host])
    shown = previewed(meshes, range(scene.frame_start, scene.frame_end + 1))
    shown = shown[:, nearest(points, meshes)] @ TO_GLTF.T
    (options.folder / "preview").write_bytes(np.asarray(shown, "<f4").tobytes())
    size = float(np.linalg.norm(np.ptp(points, axis=0)))
    print(json.dumps(told | {"size": size, "frames": options.frames, "seconds": seconds}))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    os._exit(0)
