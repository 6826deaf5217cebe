"""Biceps and triceps painted on a character: a picture, and the measured rise of the biceps.

    python muscles.py ozz_arnaud.fbx --out docs/images/muscles.webp [--extension ZIP]

The elbow is bent, and Maximum Stretch is off.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from pathlib import Path

import bpy
import character
import figures
import flesh
import numpy as np
import script
import studio
from mathutils import Matrix
from PIL import Image

ARM, FOREARM = "LeftArm", "LeftForeArm"
CONTRACTIONS = (0.25, 0.5, 0.75, 1.0)
# Views of biceps and triceps.
SHOWN = {
    "relaxed": (0.0, 0.0),
    "biceps 0.5": (0.5, 0.0),
    "biceps 1": (1.0, 0.0),
    "triceps 1": (0.0, 1.0),
}
# Frames for which each contraction is held until the flesh is at rest.
HOLD = 24
# Belly of the muscle, as shares of the upper arm from the shoulder to the elbow.
ENDS = (0.2, 0.95)
# Degrees of the arm's rotation, to turn the front up, and of the elbow's bend.
TURN, BEND = -80.0, -85.0
# Metres represented by the strongest colour.
RISE = 0.007
LIMIT = 200_000


class Arm:
    """The upper arm of a character with painted muscles and a bent elbow."""

    def __init__(self, path: Path, caches: str) -> None:
        """Import the character and make a body as in the guide; `caches` is the folder for the final
        motion."""
        found = character.load(path)
        self.meshes, self._armature = found.body, found.armature
        self.mesh = found.meshes[0]
        flesh.select([self._armature])
        bpy.ops.jounce.setup()
        state = self.mesh.jounce
        state.resolution, state.poisson, state.bone_core = 64, 0.45, 0.25
        state.use_stretch = False
        state.quality, state.cache_folder = "FINAL", caches
        [[self._rest]] = studio.record([self.mesh], range(1, 2))
        self.near, self.biceps = self._paint(-1.0, 0)
        flesh.select([self.mesh])
        bpy.ops.jounce.build()
        self._bend()

    def add_triceps(self) -> None:
        """Paint the back of the arm as a separate muscle."""
        flesh.select([self.mesh])
        bpy.ops.jounce.muscle_add()
        self._paint(1.0, 1)

    def contracted(self, *contractions: float) -> list[np.ndarray]:
        """World positions of the meshes at rest with the muscles contracted."""
        scene = bpy.context.scene
        scene.frame_start, scene.frame_end = 1, HOLD
        for muscle, contraction in zip(self.mesh.jounce.muscles, contractions, strict=True):
            muscle.contraction = contraction
        bpy.ops.jounce.fill_cache()
        [shape] = studio.record(self.meshes, range(HOLD, HOLD + 1))
        return shape

    def rise(self, shape: list[np.ndarray], relaxed: list[np.ndarray]) -> np.ndarray:
        """Outward displacement of each vertex of the character (p,), metres."""
        return ((shape[0] - relaxed[0]) * self._normals(relaxed[0])).sum(axis=1)

    def _normals(self, points: np.ndarray) -> np.ndarray:
        """Unit normals (p, 3) of the character's mesh with its vertices at the given points."""
        self.mesh.data.calc_loop_triangles()
        triangles = np.array([triangle.vertices for triangle in self.mesh.data.loop_triangles])
        a, b, c = (points[corner] for corner in triangles.T)
        normals = np.zeros_like(points)
        for corner in triangles.T:
            np.add.at(normals, corner, np.cross(b - a, c - a))
        return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)

    def _paint(self, side: float, muscle: int) -> tuple[np.ndarray, np.ndarray]:
        """Paint a muscle on one side of the arm, the front at -1, strongest in the middle of its belly.

        Returns the vertices (p,) of the picture as a mask, and the weights (p,).
        """
        rest, matrix, bones = self._rest, self._armature.matrix_world, self._armature.data.bones
        head, tail = (np.array(matrix @ bones[name].head_local) for name in (ARM, FOREARM))
        bone = tail - head
        along = (rest - head) @ bone / (bone @ bone)
        away = rest - head - np.outer(along, bone)
        far = np.linalg.norm(away, axis=1)
        near = (far < 0.6 * np.linalg.norm(bone)) & (along > -0.3) & (along < 1.6)
        facing = np.clip(side * away[:, 1] / np.maximum(far, 1e-9), 0.0, 1.0)
        start, end = ENDS
        place = np.clip((along - start) / (end - start), 0.0, 1.0)
        weights = np.where(near, np.sin(np.pi * place) * facing, 0.0)
        flesh.select([self.mesh])
        bpy.ops.jounce.map_add(kind="MUSCLE", muscle=muscle)
        group = self.mesh.vertex_groups[self.mesh.jounce.muscles[muscle].muscle_group]
        for vertex in np.flatnonzero(weights > 0.0).tolist():
            group.add([vertex], float(weights[vertex]), "REPLACE")
        return near, weights

    def _bend(self) -> None:
        """Rotate the arm until the biceps faces up, and bend the elbow."""
        for name, axis, angle in ((ARM, "X", TURN), (FOREARM, "Y", BEND)):
            bone = self._armature.pose.bones[name]
            there = self._armature.matrix_world @ bone.matrix
            turned = Matrix.Rotation(math.radians(angle), 4, axis) @ there
            turned.translation = there.translation
            bone.matrix = self._armature.matrix_world.inverted() @ turned
            bpy.context.view_layer.update()


def main() -> int:
    """Measures, and makes the picture; returns the process's exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/images/muscles.webp"))
    parser.add_argument("--extension", type=Path, help="zip of the extension, if it is not installed")
    options = parser.parse_args()
    try:
        flesh.enable(options.extension)
    except flesh.Missing as problem:
        print(problem, file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as caches:
        arm = Arm(options.file, caches)
        relaxed = arm.contracted(0.0)
        for contraction in CONTRACTIONS:
            risen = arm.rise(arm.contracted(contraction), relaxed)[arm.biceps > 0.5].max()
            print(f"muscles: contraction {contraction:g}, bulge {1e3 * risen:.1f} mm", flush=True)
        arm.add_triceps()
        shapes = [arm.contracted(*contractions) for contractions in SHOWN.values()]
        picture = photographed(arm, shapes, Path(caches) / "render.png")
    figures.save(picture, options.out, LIMIT)
    return 0


def photographed(arm: Arm, shapes: list[list[np.ndarray]], scratch: Path) -> Image.Image:
    """The arm with muscles relaxed and contracted, plain and coloured by its rise."""
    room = studio.Studio(arm.meshes, [[shape[0][arm.near]] for shape in shapes], studio.best_engine())
    room.ground.location.z -= 2.0
    rows = [[figures.plain(room, shape, scratch) for shape in shapes], []]
    for shape in shapes:
        rise = np.clip(arm.rise(shape, shapes[0]) / RISE, 0.0, 1.0)
        room.paint([rise, *(np.zeros(len(other)) for other in shape[1:])])
        rows[1].append(figures.photograph(room, shape, scratch))
    return figures.sheet(rows, list(SHOWN), ["", "rise"], f"red: rises by {1e3 * RISE:.0f} mm or more")


if __name__ == "__main__":
    script.run(main)
