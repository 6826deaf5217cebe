"""A thousand leaves in the wind, each with a motion of its own, on swaying branches.

    python leaves.py --extension jounce.zip [--leaves 1000] [--kinds 8] [--save leaves.blend]

Needs bpy; the extension contains the native module. The result plays without Jounce and this script, by
geometry nodes alone. The script prints the cost of a frame, and the error of the nodes against the formula.
With kinds, leaves are instances of this number of motions, for huge numbers of leaves.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent))

import bpy
import creature
import flesh
import leaf_nodes
import numpy as np
import script
from mathutils import Matrix

if TYPE_CHECKING:
    import branches

FRAMES, FPS, BRANCHES = 120, 24, 28
GREEN, VEIN, BARK = (0.33, 0.55, 0.16), (0.62, 0.72, 0.34), (0.36, 0.25, 0.17)


class Plant:
    """A leaf, twigs, and the leaves' positions on them."""

    def __init__(self, count: int) -> None:
        """Build it into an empty file; the native module must be there."""
        import branches
        import leaf

        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end, scene.render.fps = 1, FRAMES, FPS
        self.leaf = leaf.grown()
        self.spots = branches.placed(count, BRANCHES)
        self.places, self.turns, self.scales = self.spots.places, self.spots.turns, self.spots.scales
        self.lines = branches.grown(BRANCHES)
        self.twigs = _object("Twigs", *_tubes(self.lines))
        _paint(self.twigs, np.tile(BARK, (len(self.twigs.data.vertices), 1)))
        self.leaves = _object("Leaves", self.places, np.empty((0, 3), int))
        turns = np.array([Matrix(turn).to_quaternion() for turn in self.turns])
        _attribute(self.leaves, leaf_nodes.ROTATION, "QUATERNION", turns)
        _attribute(self.leaves, leaf_nodes.SCALE, "FLOAT", self.scales)

    def move(self, nodes: leaf_nodes.Leaves) -> None:
        """Move the leaves by nodes."""
        self.leaves.modifiers.new("Leaves", "NODES").node_group = nodes.tree
        bpy.context.view_layer.update()

    def made(self, name: str, points: np.ndarray) -> bpy.types.Object:
        """The leaf as a painted mesh with the given points (p, 3), in no collection."""
        made = _object(name, points, self.leaf.faces)
        side = np.abs(self.leaf.points[:, 1:2]) / np.abs(self.leaf.points[:, 1]).max()
        green = np.minimum(2.0 * side, 1.0)
        _paint(made, (1.0 - green) * np.array(VEIN) + green * np.array(GREEN), "Leaf")
        bpy.context.scene.collection.objects.unlink(made)
        return made


class Forest(Plant):
    """A plant whose leaves are instances of poses, of as many different leaves as there are kinds."""

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
    """A plant whose leaves have independent motions, warped by nodes."""

    def __init__(self, count: int) -> None:
        """Build it into an empty file."""
        import branches

        super().__init__(count)
        started = time.perf_counter()
        self.motion = branches.swayed(self.leaf, self.lines, self.spots)
        self.amplitudes = self.motion.amplitudes
        self.seconds = time.perf_counter() - started
        self.leaf_object = self.made("Leaf", self.leaf.points)
        for name, fields in ((leaf_nodes.SHAPE, self.leaf.shapes), (leaf_nodes.TURN, self.leaf.rotations)):
            for mode, field in enumerate(fields):
                _attribute(self.leaf_object, name.format(mode), "FLOAT_VECTOR", field)
        modes = self.amplitudes.shape[2]
        holder = _held("Motion of Leaves", self.motion.places)
        turns = [Matrix(turn).to_quaternion() for turn in self.motion.turns.reshape(-1, 3, 3)]
        _attribute(holder, leaf_nodes.ROTATION, "QUATERNION", np.array(turns))
        for mode in range(modes):
            _attribute(holder, leaf_nodes.AMPLITUDE.format(mode), "FLOAT", self.amplitudes[..., mode])
        self.move(leaf_nodes.Swaying(self.leaf_object, holder, modes, FRAMES))
        carried = leaf_nodes.Carried(_held("Motion of Twigs", self.motion.points), FRAMES)
        self.twigs.modifiers.new("Twigs", "NODES").node_group = carried.tree
        bpy.context.view_layer.update()

    @property
    def outermost(self) -> np.ndarray:
        """Position of the leaf nearest to the pictures' camera."""
        return self.places[(self.places @ (0.5, -0.8, 0.2)).argmax()]

    def formula(self, frame: int) -> np.ndarray:
        """Positions of all points of all leaves, (l, p, 3), by the native module."""
        frame %= FRAMES
        found = [self.leaf.warped(row, "modal") for row in self.amplitudes[frame]]
        local = self.scales[:, np.newaxis, np.newaxis] * (self.leaf.points + np.array(found))
        return self.motion.places[frame][:, np.newaxis] + local @ self.motion.turns[frame].transpose(0, 2, 1)

    def bent(self) -> dict[str, np.ndarray]:
        """Points (p, 3) of a leaf at the 95th percentile of bending, by each display of modes."""
        rows = self.amplitudes.reshape(-1, self.amplitudes.shape[2])
        tips = np.linalg.norm(rows @ self.leaf.shapes[:, -1], axis=1)
        return {"at rest": self.leaf.points} | self._shown(rows[np.argsort(tips)[-len(rows) // 20]])

    def lengths(self) -> dict[str, np.ndarray]:
        """Lengths of the middle lines of some leaves in some frames; 1 is at rest."""
        rows = self.amplitudes[::10, ::20].reshape(-1, self.amplitudes.shape[2])
        shown = [self._shown(row) for row in rows]
        rest = self.leaf.length(self.leaf.points)
        return {name: np.array([self.leaf.length(one[name]) for one in shown]) / rest for name in shown[0]}

    def _shown(self, row: np.ndarray) -> dict[str, np.ndarray]:
        """Points (p, 3) of a leaf at given amplitudes, by each display of modes."""
        moved = {
            "linear modes": np.tensordot(row, self.leaf.shapes, 1),
            "modal warping": self.leaf.warped(row, "modal"),
            "rotation-strain\nwarping": self.leaf.warped(row, "rotation_strain"),
        }
        return {name: self.leaf.points + far for name, far in moved.items()}


def main() -> int:
    """Builds the bush, plays it, and prints the cost; returns the process's exit code."""
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
    """Prints properties of the leaf and its motion, and the errors of nodes and warping."""
    print("leaf: modes of " + ", ".join(f"{value:.1f}" for value in bush.leaf.modes.frequencies) + " Hz")
    motion = bush.motion
    print(f"motion: {len(bush.places)} leaves, {FRAMES} frames in {bush.seconds:.1f} s")
    size = f"{motion.domains} domains, {motion.coordinates} degrees of freedom"
    print(f"tree: {size}, {motion.milliseconds:.1f} ms of a processor a frame")
    shown = 43
    bpy.context.scene.frame_set(shown)
    far = np.abs(evaluated(bush.leaves) - bush.formula(shown).reshape(-1, 3)).max()
    print(f"nodes: {far / np.ptp(bush.leaf.points[:, 0]):.1e} of a leaf's length from the formula")
    for name, lengths in bush.lengths().items():
        shares = ", ".join(f"{share:.3f}" for share in np.quantile(lengths, (0.0, 0.05, 0.5, 0.95, 1.0)))
        print(f"length: {' '.join(name.split())}: {shares} (least, 5 %, median, 95 %, most)")


def evaluated(made: bpy.types.Object) -> np.ndarray:
    """Points (p, 3) of a mesh after its nodes."""
    mesh = made.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.attributes["position"].data.foreach_get("vector", points)
    return points.reshape(-1, 3)


def played(made: bpy.types.Object) -> float:
    """Milliseconds for Blender to evaluate a frame, normals included: the median over the loop."""
    taken = []
    for frame in range(1, FRAMES + 1):
        started = time.perf_counter()
        bpy.context.scene.frame_set(frame)
        mesh = made.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        assert len(mesh.corner_normals) == len(mesh.loops)
        taken.append(time.perf_counter() - started)
    return 1e3 * statistics.median(taken)


def _tubes(twigs: list[branches.Twig]) -> tuple[np.ndarray, np.ndarray]:
    """Points around twigs, and quads."""
    stations, around = twigs[0].rings.shape[:2]
    ring = np.arange(around)
    quad = np.stack([ring, (ring + 1) % around, (ring + 1) % around + around, ring + around], axis=1)
    pieces = [row for row in range(stations * len(twigs)) if (row + 1) % stations]
    points = np.concatenate([twig.rings.reshape(-1, 3) for twig in twigs])
    return points, np.concatenate([quad + around * piece for piece in pieces])


def _held(name: str, places: np.ndarray) -> bpy.types.Object:
    """A hidden mesh with the points of all frames, frame by frame, (frames, p, 3), for the nodes to read."""
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(places[..., 0].size)
    mesh.vertices.foreach_set("co", np.ascontiguousarray(places, np.float32).ravel())
    return bpy.data.objects.new(name, mesh)


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
    script.run(main)
