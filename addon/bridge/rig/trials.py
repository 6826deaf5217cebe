"""Tries the effect of modifiers on a mesh: doubles with some of them alone, evaluated in some frames."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import bpy
import numpy as np
from mathutils import Matrix, Vector

from ..common import hidden_scenes, marks, nodes, registry
from . import doubles, meshes

# Largest number of evaluated frames.
FRAMES = 16
# Number of these frames for reading weights, which takes longer than everything else.
WEIGHED = 3
# Distance below which vertices are coincident, as a share of the mesh's size and in steps of single
# precision.
NEAR, STEPS = 1e-5, 8.0
ORDER = "jounce order"
# Test placement of a mesh: rotation about a skew axis, radians, and shift as a share of its size.
TURN, AXIS, SHIFT = 1.0, (0.48, 0.6, 0.64), (0.5, -0.3, 0.4)

# Points, edges and faces of a small closed mesh.
TETRAHEDRON = (
    [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)],
    [],
    [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)],
)


class Trial:
    """A double in the frames evaluated until now.

    keeps: True if its vertices are those of the mesh, in the same order. moves: True if vertices differ
    between frames, most in `frame`. reshapes: True if they differ from the mesh at rest.
    """

    def __init__(self, obj: bpy.types.Object, made: bpy.types.Object) -> None:
        """made: a double of obj."""
        self.made = made
        self.keeps, self.moves, self.reshapes = True, False, False
        self.frame = 0
        self.rest = meshes.rest_points(obj)
        self.size = float(np.linalg.norm(np.ptp(self.rest, axis=0)))
        self.near = NEAR * self.size + STEPS * float(np.spacing(np.float32(np.abs(self.rest).max())))
        self._obj = obj
        self._first: np.ndarray | None = None
        self._furthest = 0.0
        self._order = nodes.unused_name(made.data, ORDER)
        # Vectors, as of these alone Blender gives all at once.
        self._numbers = np.repeat(np.arange(len(self.rest), dtype=np.float32), 3)
        order = made.data.attributes.new(self._order, "FLOAT_VECTOR", "POINT")
        order.data.foreach_set("vector", self._numbers)

    def look(self, depsgraph: bpy.types.Depsgraph) -> None:
        """Takes the evaluated frame into account."""
        self.keeps = self.keeps and self._has_its_vertices(self.made.evaluated_get(depsgraph))
        if not self.keeps:
            self.moves = self.reshapes = False
            # A modifier with additional vertices is slow, and the result is known.
            self.made.modifiers.clear()
            return
        points = doubles.evaluated_points(self.made, depsgraph)
        self._first = points if self._first is None else self._first
        self.reshapes = self.reshapes or apart(points, self.rest) > self.near
        distance = apart(points, self._first)
        self.moves = self.moves or distance > self.near
        if distance > self._furthest:
            self._furthest, self.frame = distance, depsgraph.scene.frame_current

    def weights(self, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
        """Weights (p, g) of all vertex groups in the evaluated frame."""
        return meshes.group_weights(self._obj, self.made.evaluated_get(depsgraph).data)

    def _has_its_vertices(self, evaluated: bpy.types.Object) -> bool:
        found = evaluated.data.attributes.get(self._order)
        if found is None or found.domain != "POINT" or len(found.data) != len(self.rest):
            return False
        if self._first is None and not bpy.app.background:
            # A subdivision on the graphics card has no vertices in the evaluated mesh.
            count = len(evaluated.to_mesh().vertices)
            evaluated.to_mesh_clear()
            if count != len(self.rest):
                return False
        numbers = np.empty_like(self._numbers)
        found.data.foreach_get("vector", numbers)
        return bool((numbers == self._numbers).all())


def apart(points: np.ndarray, others: np.ndarray) -> float:
    """The largest distance of points (p, 3) from others along an axis; infinite for invalid positions."""
    distance = float(np.abs(points - others).max())
    return distance if np.isfinite(distance) else float("inf")


class Trials:
    """Trials of one mesh in a hidden scene."""

    def __init__(self, obj: bpy.types.Object, like: bpy.types.Scene, hidden: bpy.types.Scene) -> None:
        self._obj = obj
        self._like = like
        self._hidden = hidden
        self._made: list[Trial] = []

    def add(self, kept: Collection[str], *, is_still: bool = True) -> Trial:
        """A trial of the modifiers of these names. is_still: of the mesh at rest."""
        made = doubles.double(self._obj, kept)
        self._hidden.collection.objects.link(made)
        if is_still:
            doubles.hold_still(made)
        self._made.append(Trial(self._obj, made))
        return self._made[-1]

    def multiplies(self, name: str) -> bool:
        """True if a modifier adds or removes vertices of a tetrahedron, which is a quick test.

        A modifier that replaces the whole mesh, such as a cache, is left to a trial.
        """
        made, small = doubles.double(self._obj, (name,)), bpy.data.meshes.new(doubles.DOUBLE)
        marks.put(small, marks.STAGE)
        small.from_pydata(*TETRAHEDRON)
        mesh, made.data = made.data, small
        bpy.data.meshes.remove(mesh)
        self._hidden.collection.objects.link(made)
        evaluated = made.evaluated_get(self._evaluated(self._like.frame_start))
        count = len(evaluated.data.vertices)
        doubles.remove(made)
        return count not in (len(TETRAHEDRON[0]), meshes.vertex_count(self._obj))

    def poses(self, trial: Trial) -> bool:
        """True if the trial's modifiers move the mesh, and act differently on a mesh in another place."""
        if not trial.moves:
            return False
        turn = np.array(Matrix.Rotation(TURN, 3, Vector(AXIS)))
        centre, shift = trial.rest.mean(axis=0), trial.size * np.array(SHIFT)

        def laid(points: np.ndarray) -> np.ndarray:
            return (points - centre) @ turn.T + centre + shift

        other = self.add([modifier.name for modifier in trial.made.modifiers])
        doubles.put_points(other.made, laid(trial.rest))
        depsgraph = self._evaluated(trial.frame)
        here, there = (doubles.evaluated_points(each.made, depsgraph) for each in (trial, other))
        return len(there) != len(here) or apart(there, laid(here)) > trial.near

    def frames(self) -> Iterator[bpy.types.Depsgraph]:
        """Looks at all trials frame by frame; the evaluated scene in each."""
        start, end = self._like.frame_start, self._like.frame_end
        for frame in np.unique(np.linspace(start, end, FRAMES).round()).tolist():
            depsgraph = self._evaluated(int(frame))
            for trial in self._made:
                trial.look(depsgraph)
            yield depsgraph

    def _evaluated(self, frame: int) -> bpy.types.Depsgraph:
        return hidden_scenes.go_to(self._hidden, frame)

    def close(self) -> None:
        """Takes the doubles away."""
        for trial in self._made:
            doubles.remove(trial.made)


@contextmanager
def of(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[Trials]:
    """Trials of a mesh in the frames of a scene, without any traces."""
    hidden = hidden_scenes.new(scene)
    trials = Trials(obj, scene, hidden)
    try:
        yield trials
    finally:
        trials.close()
        if registry.is_there(hidden):
            bpy.data.scenes.remove(hidden)
