"""A stadium of a thousand dancing creatures, each at a moment of its own, as instances by geometry nodes.

    python stadium.py --extension jounce.zip [--characters 1000] [--save stadium.blend]
                      [--picture stadium.webp]

Needs bpy; the extension contains the native module. One creature is built and simulated over a loop. Its
frames are meshes, and each character is an instance of them with a delay. The result plays without Jounce
and this script.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import creature
import creature_action
import flesh
import leaf_nodes
import numpy as np
import script
import studio
from mathutils import Matrix, Vector
from PIL import Image

LOOP = creature_action.LAST_FRAME - creature_action.FIRST_FRAME
# Seats on half circles: metres from the middle to the first row, between rows, up a row, and along a row.
FIRST, DEEP, HIGH, WIDE = 12.0, 1.3, 0.65, 1.15
SEED = 7


class Stadium:
    """The stadium in an empty file; the extension must be there."""

    def __init__(self, characters: int) -> None:
        """Build it."""
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        self.poses = bpy.data.collections.new("Poses")
        self._fill()
        self.seats = self._seated(characters)
        nodes = leaf_nodes.Picked(self.poses, LOOP)
        self.seats.modifiers.new("Characters", "NODES").node_group = nodes.tree
        bpy.context.scene.frame_end = LOOP
        bpy.context.view_layer.update()

    def _fill(self) -> None:
        """Keeps the frames of the action's second round as meshes; it ends as it begins."""
        made = creature.build(28, rounds=2)
        meshes = [made.body, *made.parts]
        host = flesh.added(made.armature, meshes, creature_action.FIRST_FRAME)
        bpy.ops.jounce.bake(target="MODAL_KEYS", frame_start=1, frame_end=1 + 2 * LOOP)
        self.vertices = sum(len(mesh.data.vertices) for mesh in meshes)
        for frame in range(LOOP):
            bpy.context.scene.frame_set(1 + LOOP + frame)
            self.poses.children.link(_frozen(f"Pose {frame:03}", meshes))
        flesh.select([host])
        for obj in [*meshes, made.armature]:
            bpy.data.objects.remove(obj)

    def _seated(self, characters: int) -> bpy.types.Object:
        """A mesh with a point for each character, its rotation, size and delay."""
        places, turns = [], []
        row = 0
        while len(places) < characters:
            radius = FIRST + DEEP * row
            count = int(math.pi * radius / WIDE)
            for seat in range(count):
                angle = math.pi * (seat + 0.5) / count
                places.append((radius * math.cos(angle), radius * math.sin(angle), HIGH * row))
                turns.append(Matrix.Rotation(angle - 0.5 * math.pi, 3, "Z").to_quaternion())
            row += 1
        random = np.random.default_rng(SEED)
        mesh = bpy.data.meshes.new("Seats")
        mesh.from_pydata(places[:characters], [], [])
        values = {
            (leaf_nodes.ROTATION, "QUATERNION"): np.array(turns[:characters]),
            (leaf_nodes.SCALE, "FLOAT"): random.uniform(0.85, 1.1, characters),
            (leaf_nodes.FIRST, "FLOAT"): np.zeros(characters),
            (leaf_nodes.DELAY, "FLOAT"): random.uniform(0.0, LOOP, characters),
        }
        for (name, kind), numbers in values.items():
            mesh.attributes.new(name, kind, "POINT").data.foreach_set("value", np.float32(numbers).ravel())
        seats = bpy.data.objects.new("Seats", mesh)
        bpy.context.scene.collection.objects.link(seats)
        return seats

    def seconds(self) -> float:
        """Median time of a frame, seconds."""
        times = []
        for frame in range(1, 25):
            begin = time.perf_counter()
            bpy.context.scene.frame_set(frame)
            times.append(time.perf_counter() - begin)
        return statistics.median(times)

    def photograph(self, path: Path, size: tuple[int, int] = (960, 480)) -> None:
        """A picture from the field, by Cycles."""
        scene = bpy.context.scene
        camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        camera.data.lens = 30.0
        camera.location = (0.0, -1.0, 2.2)
        camera.rotation_euler = (
            (Vector((0.0, 16.0, 3.4)) - camera.location).to_track_quat("-Z", "Y").to_euler()
        )
        sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
        sun.data.energy, sun.rotation_euler = 3.0, (0.7, 0.3, 0.4)
        for obj in (camera, sun):
            scene.collection.objects.link(obj)
        scene.camera = camera
        scene.world = bpy.data.worlds.new("Sky")
        scene.world.use_nodes = True
        scene.world.node_tree.nodes["Background"].inputs[0].default_value = (0.75, 0.8, 0.9, 1.0)
        render = scene.render
        render.engine, scene.cycles.samples = "CYCLES", 24
        scene.view_settings.view_transform = "Standard"
        render.resolution_x, render.resolution_y = size
        render.filepath = str(path)
        with studio.hushed():
            bpy.ops.render.render(write_still=True)


def _frozen(name: str, meshes: list[bpy.types.Object]) -> bpy.types.Collection:
    """Copies of meshes as they stand, in a collection of their own."""
    graph = bpy.context.evaluated_depsgraph_get()
    held = bpy.data.collections.new(name)
    for mesh in meshes:
        seen = mesh.evaluated_get(graph)
        data = bpy.data.meshes.new_from_object(seen, preserve_all_data_layers=True, depsgraph=graph)
        copy = bpy.data.objects.new(f"{name} {mesh.name}", data)
        copy.matrix_world = seen.matrix_world.copy()
        held.objects.link(copy)
    return held


def main() -> int:
    """Builds the stadium; returns the process's exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extension", type=Path, help="zip of the extension, if it is not installed")
    parser.add_argument("--characters", type=int, default=1000)
    parser.add_argument("--save", type=Path, help=".blend file to write")
    parser.add_argument("--picture", type=Path, help="picture to write")
    options = parser.parse_args()
    try:
        flesh.enable(options.extension)
    except flesh.Missing as problem:
        print(problem, file=sys.stderr)
        return 1
    made = Stadium(options.characters)
    print(
        f"{options.characters} characters of {made.vertices} vertices: {1e3 * made.seconds():.1f} ms a frame"
    )
    if options.save:
        bpy.ops.wm.save_as_mainfile(filepath=str(options.save.resolve()), copy=True)
    if options.picture:
        scratch = options.picture.with_suffix(".png").resolve()
        made.photograph(scratch)
        Image.open(scratch).save(options.picture, quality=80)
        scratch.unlink()
    return 0


if __name__ == "__main__":
    script.run(main)
