"""Cost of a frame with and without the live preview, piece by piece, as a table.

    python frame_table.py [--extension ZIP] [--vertices 10000 50000] [--bones 65] [--frames 60]

Runs in a Blender without a window (the bpy module); `cargo x gui frames` does the same in a window, where
drawing is measured too. The same scene is played in turn without Jounce, with cached frames as in a window,
and piece by piece. Every number is the median over the frames of each frame's best round, in milliseconds of
wall time, so nothing else should run meanwhile.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import bpy
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "blender"))

import extension
import script

ROUNDS = 6

Draw = Callable[[], None]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extension", type=Path, help="zip of the extension, instead of its sources")
    parser.add_argument("--vertices", type=int, nargs="+", default=[10_000, 50_000])
    parser.add_argument("--bones", type=int, default=65)
    parser.add_argument("--frames", type=int, default=60)
    options = parser.parse_args()
    if options.extension is not None:
        os.environ["JOUNCE_EXTENSION"] = str(options.extension.resolve())
    package = extension.enable().__name__
    tables = {}
    for count in options.vertices:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        tables[count] = measure(package, count, options.bones, options.frames)
    print(markdown(tables))


def markdown(tables: dict[int, dict[str, str]]) -> str:
    """One table from several, each for a number of vertices."""
    lines = [
        "| ms a frame | " + " | ".join(f"{count:,} vertices" for count in tables) + " |",
        "| --- |" + " --- |" * len(tables),
    ]
    for name in next(iter(tables.values())):
        lines.append(f"| {name} | " + " | ".join(table[name] for table in tables.values()) + " |")
    return "\n".join(lines)


def measure(
    package: str,
    vertices: int,
    bones: int,
    frames: int,
    view: Callable[[bpy.types.Object], Draw] | None = None,
) -> dict[str, str]:
    """Cost of the pieces of a frame by name, in an empty scene.

    view: shows an object in a window and returns the cost of drawing it.
    """
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, frames
    obj = character(vertices, bones, frames)
    bpy.ops.jounce.add()
    obj.jounce.resolution, obj.jounce.modes, obj.jounce.quality = 32, 16, "DRAFT"
    bpy.ops.jounce.build()
    bpy.ops.jounce.preview()
    names = (
        "bridge.preview.previews",
        "bridge.inputs.frame_inputs",
        "bridge.rig.preview_modifier",
        "bridge.motions.scratch_scene",
        "core.stepping.motion",
    )
    preview, drives, offsets, stage, motion = (importlib.import_module(f"{package}.{n}") for n in names)
    known = preview.session(obj)
    bpy.ops.jounce.fill_cache()
    body_scene, modifier = known.motions.scene, offsets.modifier_of(obj)
    simulation = known.filling.fresh()
    simulation.reset(known.filling.drives[0].pose)
    shape = np.zeros((len(obj.data.vertices), 3), np.float32)

    def each(work: Callable[[int], object]) -> list[float]:
        return [timed(work, index) for index in range(frames)]

    def project(index: int) -> object:
        body = known.motions.body
        return body.model.displacement(known.cache.coefficients[index], body.embedding, shape)

    def played(with_preview: bool) -> list[float]:
        modifier.show_viewport = with_preview
        with nullcontext() if with_preview else preview.paused():
            return each(lambda index: scene.frame_set(1 + index))

    def filled() -> list[float]:
        preview.forget(obj)
        fresh = preview.session(obj)
        fresh.get_ready(bpy.context)
        start = time.perf_counter()
        while not fresh.complete:
            fresh.fill(1.0)
        return [(time.perf_counter() - start) * 1e3 / frames]

    def drawn(with_preview: bool) -> list[float]:
        modifier.show_viewport = with_preview
        with nullcontext() if with_preview else preview.paused():
            return each(lambda index: (scene.frame_set(1 + index), draw()))

    draw = None if view is None else view(obj)
    graph = bpy.context.evaluated_depsgraph_get()
    preview.is_playing = lambda: True
    pieces = {
        "plain": lambda: played(False),
        "previewed": lambda: played(True),
        "read the pose": lambda: each(lambda _: drives.read(body_scene, graph)),
        "step": lambda: each(lambda i: motion.step(simulation, known.filling.drives[i])),
        "project": lambda: each(project),
        "write": lambda: each(lambda _: offsets.write(obj, shape)),
        "fill": filled,
    }
    if draw is not None:
        pieces |= {"plain, drawn": lambda: drawn(False), "previewed, drawn": lambda: drawn(True)}
    rounds = [{name: run() for name, run in pieces.items()} for _ in range(ROUNDS)]
    best = {name: np.median(np.min([each[name] for each in rounds], axis=0)) for name in pieces}
    return table(best, known)


def table(best: dict[str, float], known: object) -> dict[str, str]:
    """Rows for printing."""
    model = known.motions.body.model
    own = sum(best[name] for name in ("read the pose", "step", "project", "write"))
    drawn = (
        {
            "frame without Jounce, drawn": f"{best['plain, drawn']:.1f}",
            "frame with the preview, drawn": f"{best['previewed, drawn']:.1f}",
            "ratio, drawn": f"{best['previewed, drawn'] / best['plain, drawn']:.2f}",
        }
        if "plain, drawn" in best
        else {}
    )
    return drawn | {
        "frame without Jounce": f"{best['plain']:.2f}",
        "frame with the preview, cached": f"{best['previewed']:.2f}",
        "ratio": f"{best['previewed'] / best['plain']:.2f}",
        "reading the pose": f"{best['read the pose']:.3f}",
        "step, 4 substeps": f"{best['step']:.3f}",
        "projection": f"{best['project']:.3f}",
        "writing": f"{best['write']:.3f}",
        "all four together": f"{own:.2f}",
        "filling, frames a second": f"{1e3 / best['fill']:.0f}",
        "modes, bones": f"{model.mode_count}, {model.bone_count}",
    }


def timed(work: Callable[[int], object], index: int) -> float:
    """Milliseconds of a call."""
    start = time.perf_counter()
    work(index)
    return (time.perf_counter() - start) * 1e3


def character(vertices: int, bones: int, frames: int) -> bpy.types.Object:
    """A tall column on a chain of bones that all swing."""
    sides = 100
    rings = vertices // sides
    heights = np.repeat(np.linspace(0.0, 4.0, rings), sides)
    angles = np.tile(np.arange(sides) * 2.0 * np.pi / sides, rings)
    points = np.column_stack([0.4 * np.cos(angles), 0.4 * np.sin(angles), heights])
    ring, side = np.divmod(np.arange((rings - 1) * sides), sides)
    beside = (side + 1) % sides
    quads = np.column_stack([ring * sides + side, ring * sides + beside])
    quads = np.column_stack([quads, quads[:, 1] + sides, quads[:, 0] + sides])
    ends = [list(range(sides))[::-1], list(range((rings - 1) * sides, rings * sides))]
    mesh = bpy.data.meshes.new("Column")
    mesh.from_pydata(points, [], [*quads.tolist(), *ends])
    obj = bpy.data.objects.new("Column", mesh)
    bpy.context.scene.collection.objects.link(obj)
    rig = armature(bones, 4.0)
    skin(obj, heights * bones / 4.0 - 0.5, bones)
    obj.modifiers.new("Armature", "ARMATURE").object = rig
    for number, bone in enumerate(rig.pose.bones):
        bone.rotation_mode = "XYZ"
        for frame in range(1, frames + 1, 6):
            bone.rotation_euler = (0.05 * np.sin(0.4 * frame + number), 0.0, 0.03 * np.cos(0.3 * frame))
            bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.view_layer.objects.active = obj
    obj.select_set(True)
    return obj


def armature(bones: int, height: float) -> bpy.types.Object:
    """A chain of bones along z."""
    data = bpy.data.armatures.new("Rig")
    rig = bpy.data.objects.new("Rig", data)
    bpy.context.scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    above = None
    for number in range(bones):
        bone = data.edit_bones.new(f"Bone {number}")
        bone.head, bone.tail = (0, 0, height * number / bones), (0, 0, height * (number + 1) / bones)
        bone.parent, above = above, bone
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def skin(obj: bpy.types.Object, along: np.ndarray, bones: int) -> None:
    """Four groups per vertex, as in characters: the nearest bones, by their distance along the chain."""
    groups = [obj.vertex_groups.new(name=f"Bone {number}") for number in range(bones)]
    first = np.clip(np.floor(along).astype(int) - 1, 0, bones - 4)
    for vertex, (start, place) in enumerate(zip(first.tolist(), along.tolist(), strict=True)):
        for bone in range(start, start + 4):
            groups[bone].add([vertex], 1.0 / (0.5 + abs(place - bone)) ** 2, "REPLACE")


if __name__ == "__main__":
    script.run(main)
