"""A soft bar for the picture of stitches, cut through its middle, held by two posts at its ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import bpy
import creature
import numpy as np
from subjects import Shape

if TYPE_CHECKING:
    import jounce

LENGTH, WIDTH, CUT = 1.0, 0.4, 0.1
"""Sizes of each half, of its square section and between the halves, metres."""
YOUNG, GRAVITY = 1.5e5, 9.81
"""Young's modulus, Pa, and the pull downwards, m/s^2."""
SEAM = 1e4
"""Stiffness of a stitch, N/m."""


class CutBar:
    """Both halves as one body without bones, pinned inside the posts."""

    def __init__(self) -> None:
        """Build it into an empty file."""
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        self.meshes = [_block(24) for _ in range(2)] + [_block(0) for _ in range(2)]
        halves = [_points(mesh) * [LENGTH, WIDTH, WIDTH] for mesh in self.meshes[:2]]
        for side, half in zip((-1.0, 1.0), halves, strict=True):
            half[:, 0] += side * (LENGTH + CUT) / 2.0
        self.halves = halves
        end = LENGTH + CUT / 2.0
        posts = [_points(mesh) * [0.16, 0.6, 0.9] for mesh in self.meshes[2:]]
        self.posts = [posts[0] - [end, 0.0, 0.2], posts[1] + [end, 0.0, -0.2]]
        for mesh, half in zip(self.meshes[:2], halves, strict=True):
            _stripe(mesh, half)

    def shape(self, displacement: np.ndarray | None = None) -> Shape:
        """Halves and posts at rest, or with the flesh's displacement (p, 3)."""
        moved = np.concatenate(self.halves) + (0.0 if displacement is None else displacement)
        return [shape.astype(np.float32) for shape in (*np.split(moved, 2), *self.posts)]

    def hanging(self, gap: float | None) -> Shape:
        """Equilibrium under gravity. gap: of the stitches, None for no stitches."""
        simulation, embedding = self._sewn(gap)
        simulation.settle(max_iterations=5000)
        return self.shape(simulation.model.displacement(simulation.coefficients, embedding))

    def unzipped(self, frames: range) -> list[Shape]:
        """The sewn bar while its rows of stitches open, the lowest first, each in four frames."""
        height = np.round(np.concatenate(self.halves)[self._pairs()[:, 0], 2], 4)
        rows = np.unique(height, return_inverse=True)[1]
        simulation, embedding = self._sewn(1.0, rows, 1e-3)
        simulation.vary(damping=0.15)
        simulation.settle(max_iterations=5000)
        shapes = []
        for frame in range(frames.stop):
            closed = np.clip(1.0 - (frame - 4.0 * np.arange(1, rows.max() + 2)) / 4.0, 0.0, 1.0)
            simulation.vary(stitching=closed)
            simulation.step()
            shapes.append(self.shape(simulation.model.displacement(simulation.coefficients, embedding)))
        return [shapes[frame] for frame in frames]

    def _sewn(
        self, gap: float | None, groups: np.ndarray | None = None, known: float = 1.0
    ) -> tuple[jounce.Simulation, jounce.Embedding]:
        """The sewn bar under gravity. known: share of the stitches' stiffness for computing modes."""
        import jounce

        points = np.concatenate(self.halves)
        mesh = jounce.TetMesh.lattice(points, self._triangles(), 64)
        embedding = jounce.Embedding(mesh, points)

        def stitches(stiffness: float) -> jounce.Stitches | None:
            if gap is None:
                return None
            return jounce.Stitches(mesh, self._pairs(), stiffness, gap, embedding, groups)

        material = jounce.Material(young=YOUNG)
        pinned = np.abs(mesh.vertices[:, 0]) > LENGTH + CUT / 2.0 - 0.06
        modes = jounce.skinning_modes(mesh, material, 12, pinned=pinned, stitches=stitches(known * SEAM))
        labels = jounce.cluster_tets(mesh, modes, 100)
        model = jounce.Model.skinning(mesh, material, modes, labels, stitches=stitches(SEAM))
        return jounce.Simulation(model, gravity=(0.0, 0.0, -GRAVITY), tolerance=1e-7), embedding

    def mode_errors(self, counts: tuple[int, ...]) -> list[np.ndarray]:
        """Estimated error of the modes at each point (p,), a share, with so many stitches added later."""
        bare = self._body()
        found = []
        for count in counts:
            some = np.linspace(0, len(self._pairs()) - 1, count).round().astype(int)
            pairs = self._pairs()[some]
            later = self._body(like=bare, stitches=pairs, stitch_stiffness=SEAM, stitch_gap=1.0)
            found.append(later.embedding.interpolate(later.residuals[:, np.newaxis])[:, 0])
        return found

    def split(self, amounts: np.ndarray) -> list[np.ndarray]:
        """Amounts (p,) of the halves for each mesh; zero on the posts."""
        return [*np.split(amounts, 2), *(np.zeros(len(post)) for post in self.posts)]

    def _body(self, **settings: object) -> jounce.Body:
        import jounce

        points = np.concatenate(self.halves)
        inside = np.abs(points[:, 0]) > LENGTH + CUT / 2.0 - 0.06
        bones = np.ones((len(points), 1))
        settings |= {"resolution": 64, "modes": 16, "pinned": inside, "young": YOUNG, "editable": True}
        return jounce.Body(points, self._triangles(), bones, **settings)

    def _pairs(self) -> np.ndarray:
        """Every fourth vertex along both sides of the cut face, with its counterpart across the cut."""
        faces = []
        for half in self.halves:
            on_cut = np.flatnonzero(np.isclose(np.abs(half[:, 0]), CUT / 2.0))
            faces.append(on_cut[np.lexsort(np.round(half[on_cut, 1:], 4).T)])
        side = round(len(faces[0]) ** 0.5)
        grid = np.arange(side * side).reshape(side, side)[::4, ::4].ravel()
        return np.stack([faces[0][grid], faces[1][grid] + len(self.halves[0])], axis=1)

    def _triangles(self) -> np.ndarray:
        parts = []
        for number, mesh in enumerate(self.meshes[:2]):
            mesh.data.calc_loop_triangles()
            corners = np.array([face.vertices for face in mesh.data.loop_triangles], dtype=np.int32)
            parts.append(corners + number * len(self.halves[0]))
        return np.concatenate(parts)


def _block(cuts: int) -> bpy.types.Object:
    bpy.ops.mesh.primitive_cube_add(size=1.0)
    block = bpy.context.object
    if cuts:
        bpy.ops.object.mode_set(mode="EDIT")
        bpy.ops.mesh.subdivide(number_cuts=cuts - 1)
        bpy.ops.object.mode_set(mode="OBJECT")
    return block


def _points(block: bpy.types.Object) -> np.ndarray:
    return np.array([vertex.co for vertex in block.data.vertices], dtype=np.float64)


def _stripe(block: bpy.types.Object, points: np.ndarray) -> None:
    fields = np.floor(points / [0.125, 0.2, 0.2] + 1e-3).sum(axis=1) % 2
    creature.colour(block.data, np.where(fields[:, None] > 0, (0.80, 0.42, 0.36), (0.96, 0.80, 0.66)))
    block.data.materials.append(creature.coloured_material("Stripes", 0.6))
