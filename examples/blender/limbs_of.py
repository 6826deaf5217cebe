"""One character for `limbs.py`: its final motion without collisions and with its limbs' capsules.

    python limbs_of.py FILE --report OUT.json [--frames 60] [--sheets DIR]

Depth is the penetration of a vertex into the capsule of a limb to which it does not belong, as a share of the
diagonal at the first frame. Vertices of the limb itself and of its neighbours are left out, as are those
inside the capsule in the first frame and those moved by flesh less than a thousandth of the size, which bones
hold. *Loose*: those inside that the capsule does not spare and that move by half a percent of the size.
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import body_parts_of
import character as characters
import flesh
import one_character
import script
import sheet
import studio

# Smallest visible depth; smallest motion of flesh that bones do not hold.
SEEN, HELD = 2e-3, 1e-3
# Motion of flesh in the clip that a collider can push, as a share of the size.
LOOSE = 5e-3


def main() -> None:
    """Measures one character and writes the report."""
    options = one_character.shooting_parser(__doc__).parse_args()
    one_character.shoot(options, lambda package, who, shot: shoot(package, who, shot, options.report.parent))


def shoot(
    package: str, character: characters.Character, shot: characters.Shot, caches: Path
) -> tuple[dict, sheet.Take]:
    """Records both motions through the artist's operators; returns measurements and take.

    caches: folder for the caches of the final motions, which would otherwise lie beside the character.
    """
    posed = studio.record(character.body, shot.frames)
    host = flesh.added(character.armature, character.body, shot.first)
    host.jounce.quality, host.jounce.cache_folder = "FINAL", str(caches)
    free, seconds = recorded(character, shot)
    bpy.context.scene.frame_set(shot.first)
    bpy.ops.jounce.bone_capsules()
    capsules = [item for item in host.jounce.collision_collection.all_objects if item.parent_bone]
    touched, busy = recorded(character, shot)
    render = bpy.context.scene.render
    size = float(np.linalg.norm(np.ptp(np.concatenate(posed[0]), axis=0)))
    title = f"{character.name.replace('_', ' ')}: {shot.action.name.split('|')[-1]}"
    take = sheet.Take(
        title, shot.first, render.fps / render.fps_base, size, free, touched,
        rows=("Without collisions", "With the limbs' capsules", "Difference"),
    )  # fmt: skip
    before, after = depths(character, shot, capsules, size, (posed, free, touched))
    may_touch = ~spared(package, character, capsules) & (largest_motion(posed, free) > LOOSE * size)
    tearing = body_parts_of.tearing(character, sheet.Take("", 1, 1.0, size, posed, touched))
    report = {"capsules": len(capsules), "s a frame, free": seconds, "s a frame": busy} | tearing
    for name, depth in (("without", before), ("with", after)):
        report[f"deepest, {name}"] = float(depth.max(initial=0.0))
        report[f"seen, {name}"] = int((depth > SEEN).sum())
    report["loose, with"] = int(((after > SEEN) & may_touch).sum())
    return report, take


def recorded(character: characters.Character, shot: characters.Shot) -> tuple[sheet.Shapes, float]:
    """The final motion as shown in the preview, and the seconds per frame."""
    started = time.perf_counter()
    bpy.ops.jounce.fill_cache()
    seconds = (time.perf_counter() - started) / len(shot.frames)
    return studio.record(character.body, shot.frames), seconds


def depths(
    character: characters.Character,
    shot: characters.Shot,
    capsules: list[bpy.types.Object],
    size: float,
    shapes: tuple[sheet.Shapes, sheet.Shapes, sheet.Shapes],
) -> list[np.ndarray]:
    """Depths of flesh in capsules, (f, c, p) as shares of the size, for all motions after the posed one."""
    posed, *motions = shapes
    bones = np.concatenate([body_parts_of.strongest_bones(mesh) for mesh in character.body])
    is_flesh = largest_motion(posed, motions[0]) > HELD * size
    found: list[list[np.ndarray]] = [[], []]
    counts: list[np.ndarray] = []
    for index, frame in enumerate(shot.frames):
        bpy.context.scene.frame_set(frame)
        bpy.context.view_layer.update()
        if index == 0:
            points = np.concatenate(posed[0])
            counts = [
                is_flesh & ~np.isin(bones, family(character, c)) & (inside(c, points) <= 0.0)
                for c in capsules
            ]
        for motion, kept in zip(motions, found, strict=True):
            points = np.concatenate(motion[index])
            kept.append(
                np.array([inside(c, points) * mine / size for c, mine in zip(capsules, counts, strict=True)])
            )
    return [np.array(kept) for kept in found]


def largest_motion(posed: sheet.Shapes, motion: sheet.Shapes) -> np.ndarray:
    """Largest distance (p,) of each vertex from its pose in all frames."""
    moves = [
        np.linalg.norm(np.concatenate(now) - np.concatenate(rig), axis=1)
        for now, rig in zip(motion, posed, strict=True)
    ]
    return np.max(moves, axis=0)


def spared(package: str, character: characters.Character, capsules: list[bpy.types.Object]) -> np.ndarray:
    """True for vertices (c, p) that pass through a capsule by the rules of *Capsules of Bones*."""
    host = next(mesh for mesh in character.body if mesh.jounce.is_host)
    bodies = importlib.import_module(f"{package}.bridge.body.bodies")
    scene = bodies.read(host, bpy.context, print)
    counts = {mesh.name: len(mesh.data.vertices) for mesh in character.body}
    starts = dict(zip(counts, np.cumsum([0, *counts.values()]), strict=False))
    rows = np.concatenate([starts[mesh.name] + np.arange(counts[mesh.name]) for mesh in scene.objects])
    # Attached clothes are bodies of their own.
    passes = np.ones((len(capsules), sum(counts.values())), dtype=bool)
    passes[:, rows] = False
    for obj, solid in zip(scene.colliders.objects, scene.colliders.colliders.solids, strict=True):
        passes[capsules.index(obj), rows[solid.spared]] = True
    return passes


def family(character: characters.Character, capsule: bpy.types.Object) -> list[str]:
    """The bone of a capsule and its neighbours."""
    bone = character.armature.data.bones[capsule.parent_bone]
    return [relative.name for relative in (bone, bone.parent, *bone.children) if relative is not None]


def inside(capsule: bpy.types.Object, points: np.ndarray) -> np.ndarray:
    """Depths of points (p, 3) in a capsule, metres, 0 outside."""
    matrix = np.array(capsule.matrix_world)
    local = (np.c_[points, np.ones(len(points))] @ np.linalg.inv(matrix).T)[:, :3]
    scale = float(np.cbrt(abs(np.linalg.det(matrix[:3, :3]))))
    corners = np.abs(np.array(capsule.bound_box)).max(axis=0)
    half, radius = corners[1], corners[0]
    reach = np.clip(local[:, 1], radius - half, half - radius)
    away = np.linalg.norm(local - np.outer(reach, (0.0, 1.0, 0.0)), axis=1) - radius
    return np.maximum(-away, 0.0) * scale


if __name__ == "__main__":
    script.run(main)
