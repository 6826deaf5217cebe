"""A thousand leaves in the wind: one leaf's modes on every instance, each with a motion of its own.

    python leaves.py --extension jounce.zip [--leaves 1000] [--kinds 8] [--save leaves.blend]

Needs bpy; the extension brings the native module. What is made plays without Jounce and this script, by
geometry nodes alone. It prints what a frame costs, and how far the nodes are from the formula. With kinds,
leaves are instances of the poses of so many, for huge counts.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import creature
import flesh
import leaf_nodes
import numpy as np
from mathutils import Matrix

FRAMES, FPS = 120, 24
BRANCHES, ALONG = 28, 0.9
GOLDEN = math.pi * (3.0 - math.sqrt(5.0))
# Metres: the stem, and how thick it and a branch begin.
STEM, THICK, THIN = 1.5, 0.022, 0.009
GREEN, VEIN, BARK = (0.33, 0.55, 0.16), (0.62, 0.72, 0.34), (0.36, 0.25, 0.17)
# Triangles around a branch, and pieces along it.
AROUND, PIECES = 6, 10


class Plant:
    """A leaf, twigs, and the places of leaves on them."""

    def __init__(self, count: int) -> None:
        """Build it into an empty file; the native module must be there."""
        import leaf

        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, FPS
        self.leaf = leaf.grown()
        self.places, self.turns, self.scales = _placed(count)
        self.twigs = _object("Twigs", *_twigs())
        _paint(self.twigs, np.tile(BARK, (len(self.twigs.data.vertices), 1)))
        self.leaves = _object("Leaves", self.places, np.empty((0, 3), int))
        turns = np.array([Matrix(turn).to_quaternion() for turn in self.turns])
        _attribute(self.leaves, leaf_nodes.ROTATION, "QUATERNION", turns)
        _attribute(self.leaves, leaf_nodes.SCALE, "FLOAT", self.scales)

    def move(self, nodes: leaf_nodes.Leaves) -> None:
        """Has nodes move the leaves."""
        self.leaves.modifiers.new("Leaves", "NODES").node_group = nodes.tree
        bpy.context.view_layer.update()

    def made(self, name: str, points: np.ndarray) -> bpy.types.Object:
        """The leaf as a painted mesh with its points (p, 3) somewhere, in no collection."""
        made = _object(name, points, self.leaf.faces)
        side = np.abs(self.leaf.points[:, 1:2]) / np.abs(self.leaf.points[:, 1]).max()
        green = np.minimum(2.0 * side, 1.0)
        _paint(made, (1.0 - green) * np.array(VEIN) + green * np.array(GREEN), "Leaf")
        bpy.context.scene.collection.objects.unlink(made)
        return made


class Forest(Plant):
    """A plant of which every leaf is an instance of a pose, of as many leaves as there are kinds."""

    def __init__(self, count: int, kinds: int) -> None:
        """Build it into an empty file."""
        import leaf

        super().__init__(count)
        self.poses, self.kinds, self.delays = leaf.posed(
            self.leaf, self.places, self.turns, kinds, FRAMES, FPS
        )
        held = bpy.data.collections.new("Poses of Leaves")
        for number, points in enumerate(self.poses.reshape(-1, *self.leaf.points.shape)):
            held.objects.link(self.made(f"Pose {number:05}", points))
        _attribute(self.leaves, leaf_nodes.FIRST, "FLOAT", FRAMES * self.kinds)
        _attribute(self.leaves, leaf_nodes.DELAY, "FLOAT", self.delays)
        self.move(leaf_nodes.Picked(held, FRAMES))


class Bush(Plant):
    """A plant of which every leaf has a motion of its own, by which nodes warp it."""

    def __init__(self, count: int) -> None:
        """Build it into an empty file."""
        import leaf

        super().__init__(count)
        started = time.perf_counter()
        self.amplitudes = leaf.swung(self.leaf, self.places, self.turns, self.scales, FRAMES, FPS)
        self.seconds = time.perf_counter() - started
        self.leaf_object = self.made("Leaf", self.leaf.points)
        for name, fields in ((leaf_nodes.SHAPE, self.leaf.shapes), (leaf_nodes.TURN, self.leaf.rotations)):
            for mode, field in enumerate(fields):
                _attribute(self.leaf_object, name.format(mode), "FLOAT_VECTOR", field)
        modes = self.amplitudes.shape[2]
        motion = bpy.data.meshes.new("Motion of Leaves")
        motion.vertices.add(self.amplitudes[..., 0].size)
        holder = bpy.data.objects.new(motion.name, motion)
        for mode in range(modes):
            _attribute(holder, leaf_nodes.AMPLITUDE.format(mode), "FLOAT", self.amplitudes[..., mode])
        self.move(leaf_nodes.Swaying(self.leaf_object, holder, modes, FRAMES))

    @property
    def outermost(self) -> np.ndarray:
        """The place of the leaf that is nearest to the camera of pictures."""
        return self.places[(self.places @ (0.5, -0.8, 0.2)).argmax()]

    def formula(self, frame: int) -> np.ndarray:
        """Where all points of all leaves are, (l, p, 3), by the native module."""
        found = [self.leaf.warped(row, "modal") for row in self.amplitudes[frame % FRAMES]]
        local = self.scales[:, np.newaxis, np.newaxis] * (self.leaf.points + np.array(found))
        return self.places[:, np.newaxis] + local @ self.turns.transpose(0, 2, 1)

    def bent(self) -> dict[str, np.ndarray]:
        """The points (p, 3) of a leaf as far bent as one of twenty in the wind, by how modes are shown."""
        rows = self.amplitudes.reshape(-1, self.amplitudes.shape[2])
        tips = np.linalg.norm(rows @ self.leaf.shapes[:, -1], axis=1)
        return {"at rest": self.leaf.points} | self._shown(rows[np.argsort(tips)[-len(rows) // 20]])

    def lengths(self) -> dict[str, np.ndarray]:
        """How long the middles of leaves in the wind are, of some in some frames; 1 is at rest."""
        rows = self.amplitudes[::10, ::20].reshape(-1, self.amplitudes.shape[2])
        shown = [self._shown(row) for row in rows]
        rest = self.leaf.length(self.leaf.points)
        return {name: np.array([self.leaf.length(one[name]) for one in shown]) / rest for name in shown[0]}

    def _shown(self, row: np.ndarray) -> dict[str, np.ndarray]:
        """The points (p, 3) of a leaf at amplitudes, by how its modes are shown."""
        moved = {
            "linear modes": np.tensordot(row, self.leaf.shapes, 1),
            "modal warping": self.leaf.warped(row, "modal"),
            "rotation-strain\nwarping": self.leaf.warped(row, "rotation_strain"),
        }
        return {name: self.leaf.points + far for name, far in moved.items()}


def main() -> int:
    """Build the bush, play it, and say what that costs; returns the process's exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extension", type=Path, help="zip of the extension, if it is not installed")
    parser.add_argument("--leaves", type=int, default=1000)
    parser.add_argument("--kinds", type=int, default=0, help="how many have poses that all share")
    parser.add_argument("--save", type=Path, help=".blend file that the scene is kept in")
    options = parser.parse_args()
    try:
        flesh.enable(options.extension)
    except flesh.Missing as problem:
        print(problem, file=sys.stderr)
        return 1
    if options.kinds:
        plant: Plant = Forest(options.leaves, options.kinds)
    else:
        plant = Bush(options.leaves)
        describe(plant)
    milliseconds = played(plant.leaves)
    rate = 1e3 / milliseconds
    print(f"play: {options.leaves} leaves, {milliseconds:.1f} ms a frame, {rate:.0f} frames a second")
    if options.save is not None:
        bpy.context.scene.frame_set(1)
        bpy.ops.wm.save_as_mainfile(filepath=str(options.save.resolve()))
    return 0


def describe(bush: Bush) -> None:
    """Print what the leaf and its motion are, and how right nodes and warping are."""
    print("leaf: modes of " + ", ".join(f"{value:.1f}" for value in bush.leaf.modes.frequencies) + " Hz")
    print(f"motion: {len(bush.places)} leaves, {FRAMES} frames in {bush.seconds:.2f} s")
    shown = 43
    bpy.context.scene.frame_set(shown)
    far = np.abs(evaluated(bush.leaves) - bush.formula(shown).reshape(-1, 3)).max()
    print(f"nodes: {far / np.ptp(bush.leaf.points[:, 0]):.1e} of a leaf's length from the formula")
    for name, lengths in bush.lengths().items():
        shares = ", ".join(f"{share:.3f}" for share in np.quantile(lengths, (0.0, 0.05, 0.5, 0.95, 1.0)))
        print(f"length: {' '.join(name.split())}: {shares} (least, 5 %, median, 95 %, most)")


def evaluated(made: bpy.types.Object) -> np.ndarray:
    """The points (p, 3) of a mesh as nodes leave it."""
    mesh = made.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", points)
    return points.reshape(-1, 3)


def played(made: bpy.types.Object) -> float:
    """Milliseconds that Blender takes to evaluate a frame, its normals included: the median over the loop."""
    taken = []
    for frame in range(1, FRAMES + 1):
        started = time.perf_counter()
        bpy.context.scene.frame_set(frame)
        mesh = made.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        assert len(mesh.corner_normals) == len(mesh.loops)
        taken.append(time.perf_counter() - started)
    return 1e3 * statistics.median(taken)


def _branch(number: int) -> np.ndarray:
    """The middle line of a branch, (pieces + 1, 3), that goes out and bends up."""
    share = number / (BRANCHES - 1)
    turn, lift = GOLDEN * number, 0.25 + 0.9 * share
    out = np.array([math.cos(turn) * math.cos(lift), math.sin(turn) * math.cos(lift), math.sin(lift)])
    u = np.linspace(0.0, 1.0, PIECES + 1)[:, np.newaxis]
    base = np.array([0.0, 0.0, STEM * (0.25 + 0.75 * share)])
    return base + ALONG * (1.0 - 0.5 * share) * (u * out + 0.2 * u**2 * np.array([0.0, 0.0, 1.0]))


def _placed(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places (l, 3), turns (l, 3, 3) and scales (l,) of leaves along the branches, to either side of them."""
    drawn = np.random.default_rng(11)
    places, turns = np.empty((count, 3)), np.empty((count, 3, 3))
    lines = [_branch(number) for number in range(BRANCHES)]
    for number in range(count):
        line = lines[number % BRANCHES]
        at = PIECES * (1.0 - 0.85 * ((number // BRANCHES) * BRANCHES / count + 0.02 * drawn.random()))
        piece = min(int(at), PIECES - 1)
        along = line[piece + 1] - line[piece]
        places[number] = line[piece] + (at - piece) * along
        along /= np.linalg.norm(along)
        angle = GOLDEN * (number // BRANCHES) + 0.4 * drawn.normal()
        side = np.cross(along, (0.0, 0.0, 1.0))
        side /= np.linalg.norm(side)
        away = math.cos(angle) * side + math.sin(angle) * np.cross(side, along)
        x = 0.6 * along + away + 0.15 * drawn.normal(size=3)
        x /= np.linalg.norm(x)
        z = np.array([0.0, 0.0, 1.0]) + 0.5 * away + 0.25 * drawn.normal(size=3)
        z -= (z @ x) * x
        z /= np.linalg.norm(z)
        turns[number] = np.stack([x, np.cross(z, x), z], axis=1)
    return places, turns, drawn.uniform(0.85, 1.3, count)


def _twigs() -> tuple[np.ndarray, np.ndarray]:
    """The stem and its branches: points and quads."""
    stem = np.linspace((0.0, 0.0, 0.0), (0.0, 0.0, STEM), PIECES + 1)
    points, faces = [], []
    for line, thick in [(stem, THICK), *((_branch(number), THIN) for number in range(BRANCHES))]:
        ahead = np.gradient(line, axis=0)
        ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
        side = np.cross(ahead, (0.31, 0.17, 0.05))
        side /= np.linalg.norm(side, axis=1, keepdims=True)
        radius = thick * np.linspace(1.0, 0.25, PIECES + 1)[:, np.newaxis]
        start = AROUND * (PIECES + 1) * len(points)
        angles = 2.0 * math.pi * np.arange(AROUND) / AROUND
        rings = [line + radius * (math.cos(a) * side + math.sin(a) * np.cross(ahead, side)) for a in angles]
        points.append(np.stack(rings, axis=1).reshape(-1, 3))
        ring = np.arange(AROUND)
        around = np.stack([ring, (ring + 1) % AROUND, (ring + 1) % AROUND + AROUND, ring + AROUND], axis=1)
        faces += [around + start + AROUND * piece for piece in range(PIECES)]
    return np.concatenate(points), np.concatenate(faces)


def _object(name: str, points: np.ndarray, faces: np.ndarray) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.tolist(), [], faces.tolist())
    mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), bool))
    made = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(made)
    return made


def _paint(made: bpy.types.Object, colours: np.ndarray, material: str = "Bark") -> None:
    creature.colour(made.data, colours)
    made.data.materials.append(creature.coloured_material(material, 0.5))


def _attribute(made: bpy.types.Object, name: str, kind: str, values: np.ndarray) -> None:
    attribute = made.data.attributes.new(name, kind, "POINT")
    field = "vector" if kind == "FLOAT_VECTOR" else "value"
    attribute.data.foreach_set(field, np.ascontiguousarray(values, np.float32).ravel())


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # Blender's own exit handlers can hang in a script that fails.
    os._exit(code)
