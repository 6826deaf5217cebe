"""Finds the faces of a mesh that modifiers remove in every frame, such as those of helper cages.

A copy of the object with numbered faces is evaluated in a separate scene with its modifier stack. Numbers
without a face in any frame are hidden. Removing one modifier after the other distinguishes deleted from
merged faces.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy
import numpy as np

from ...core.mesh.hidden_faces import Stage, deleted
from ..common import hidden_scenes, nodes
from ..rig import doubles, rig_stack

NUMBER = "jounce_number"
# Number of inspected frames of a shot, since masks may be animated.
FRAMES = 9


def never_shown(obj: bpy.types.Object, scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
    """The faces (f,) bool of a mesh hidden in every frame; none if unknown."""
    count = len(obj.data.polygons)
    nothing = np.zeros(count, bool)
    shown = obj.evaluated_get(depsgraph).data
    if (len(shown.polygons), len(shown.vertices)) == (count, len(obj.data.vertices)):
        return nothing
    with numbered(obj, scene) as made:
        gone = ~nothing
        for frame in np.unique(np.linspace(scene.frame_start, scene.frame_end, FRAMES).round()).astype(int):
            gone &= missing(made, int(frame), count)
            if not gone.any():
                return nothing
        made.evaluate()
        stages = [made.stage()]
        while None not in stages and made.take_off_last():
            stages.insert(0, made.stage())
    return nothing if None in stages else gone & deleted(stages, count)


def missing(made: "Numbered", frame: int, count: int) -> np.ndarray:
    """The faces (count,) hidden in a frame; none if modifiers drop the numbers."""
    made.evaluate(frame)
    stage = made.stage()
    return np.zeros(count, bool) if stage is None else ~np.isin(np.arange(1, count + 1), stage.numbers)


class Numbered:
    """A copy of an object with numbered faces, in a separate scene."""

    def __init__(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> None:
        self._scene = hidden_scenes.new(scene)
        self._first = scene.frame_current
        theirs = [m.name for m in obj.modifiers if m.show_viewport and not rig_stack.is_ours(m)]
        self._made = doubles.double(obj, theirs)
        self._scene.collection.objects.link(self._made)
        mesh = self._made.data
        self._name = nodes.unused_name(mesh, NUMBER)
        numbers = np.arange(1, len(mesh.polygons) + 1, dtype=np.int32)
        mesh.attributes.new(self._name, "INT", "FACE").data.foreach_set("value", numbers)

    def evaluate(self, frame: int | None = None) -> None:
        """Evaluates a frame; without an argument the artist's current frame."""
        hidden_scenes.go_to(self._scene, self._first if frame is None else frame)

    def stage(self) -> Stage | None:
        """The evaluated faces; None for faces without numbers, or additional instances."""
        depsgraph = self._scene.view_layers[0].depsgraph
        if any(each.is_instance for each in depsgraph.object_instances):
            return None
        mesh = self._made.evaluated_get(depsgraph).data
        numbers, areas = np.zeros(len(mesh.polygons), np.int32), np.empty(len(mesh.polygons), np.float32)
        attribute = mesh.attributes.get(self._name)
        if attribute is not None and attribute.domain == "FACE":
            attribute.data.foreach_get("value", numbers)
        elif len(numbers):
            return None
        mesh.polygons.foreach_get("area", areas)
        return Stage(numbers, areas)

    def take_off_last(self) -> bool:
        """Removes the last modifier; false without one."""
        if not self._made.modifiers:
            return False
        self._made.modifiers.remove(self._made.modifiers[-1])
        hidden_scenes.update(self._scene)
        return True

    def close(self) -> None:
        """Removes the copy and its scene."""
        doubles.remove(self._made)
        bpy.data.scenes.remove(self._scene)


@contextmanager
def numbered(obj: bpy.types.Object, scene: bpy.types.Scene) -> Iterator[Numbered]:
    """A numbered copy for a while."""
    made = Numbered(obj, scene)
    try:
        yield made
    finally:
        made.close()
