"""Compares a mesh in the scene with the contents of a file of bones and shape keys.

Exporters write the mesh itself, its shape keys and the bones of its armature. Every other influence is found
by comparing evaluated copies without the influence, in a few frames.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils.bvhtree import BVHTree

from ..common import frames, marks
from ..preview.evaluated_meshes import Shape, shape
from ..rig import rig_stack

# Distance below which shapes count as equal, as a share of the size.
SAME = 1e-4
# Number of compared vertices per surface.
LOOKED_AT = 5000
# Preserve Volume, in a list of modifiers.
PRESERVES = "Preserve Volume of {}"


@dataclass(frozen=True)
class Loss:
    """A difference between a mesh and its file.

    names: of the influences that are not written. share: largest displacement by them, relative to the size.
    """

    mesh: str
    names: tuple[str, ...]
    share: float

    @property
    def words(self) -> str:
        """The names in a sentence."""
        return ", ".join(self.names)

    @property
    def sentence(self) -> str:
        """A warning about a file with bones and keys."""
        return f"{self.mesh} is in the file as it is without {self.words}."


def losses(objects: list[bpy.types.Object], over: tuple[int, int], context: bpy.types.Context) -> list[Loss]:
    """Losses of the meshes among these objects, seen at the ends and in the middle of some frames."""
    suspects = {obj: left for obj in objects if obj.type == "MESH" and (left := beyond_skinning(obj))}
    if not suspects:
        return []
    with copies(suspects, context) as made, frames.kept(context.scene):
        apart = {obj: np.zeros(len(others) - 1) for obj, others in made.items()}
        for frame in sorted({over[0], sum(over) // 2, over[1]}):
            context.scene.frame_set(frame)
            depsgraph = context.evaluated_depsgraph_get()
            for obj, (whole, *others) in made.items():
                seen = shape(whole, depsgraph)
                gaps = [gap(seen, shape(other, depsgraph)) for other in others]
                apart[obj] = np.maximum(apart[obj], gaps)
    return [found for obj, left in suspects.items() if (found := loss(obj, left, *apart[obj].tolist()))]


def loss(obj: bpy.types.Object, names: list[str], share: float, *single: float) -> Loss | None:
    """The loss of a mesh without all named influences, and without each; None without a visible
    difference.
    """
    if share <= SAME:
        return None
    seen = [name for name, own in zip(names, single, strict=False) if own > SAME]
    return Loss(obj.name, tuple(seen or names), share)


def beyond_skinning(obj: bpy.types.Object) -> list[str]:
    """Names of possible influences beside the first armature: visible modifiers, and other skinning."""
    first = first_armature(obj)
    names = [m.name for m in obj.modifiers if m.show_viewport and m != first and not rig_stack.is_ours(m)]
    if first is not None and first.use_deform_preserve_volume:
        names.append(PRESERVES.format(first.name))
    return names


def first_armature(obj: bpy.types.Object) -> bpy.types.Modifier | None:
    """The modifier with the exported bones; None without one."""
    return next((m for m in obj.modifiers if m.type == "ARMATURE" and m.show_viewport), None)


@contextmanager
def copies(
    suspects: dict[bpy.types.Object, list[str]], context: bpy.types.Context
) -> Iterator[dict[bpy.types.Object, list[bpy.types.Object]]]:
    """Copies of meshes: unchanged, without everything beyond skinning, and without each single influence."""
    made: dict[bpy.types.Object, list[bpy.types.Object]] = {}
    try:
        for obj, names in suspects.items():
            made[obj] = []
            for without in ([], names, *([name] for name in names if len(names) > 1)):
                made[obj].append(copy(obj, without))
                context.scene.collection.objects.link(made[obj][-1])
                made[obj][-1].hide_set(True, view_layer=context.view_layer)
        yield made
    finally:
        for other in [other for others in made.values() for other in others]:
            bpy.data.objects.remove(other)


def copy(obj: bpy.types.Object, without: list[str]) -> bpy.types.Object:
    """A copy of an object with the same mesh, without some of the influences."""
    made = obj.copy()
    if made.override_library is not None:
        made.make_local(clear_liboverride=True)
    marks.put(made, marks.STAGE)
    made.property_unset("jounce")
    ours = {modifier.name for modifier in obj.modifiers if rig_stack.is_ours(modifier)}
    for modifier in list(made.modifiers):
        if modifier.name in ours or modifier.name in without:
            made.modifiers.remove(modifier)
        elif PRESERVES.format(modifier.name) in without:
            modifier.use_deform_preserve_volume = False
    made.constraints.new("COPY_TRANSFORMS").target = obj
    return made


def gap(one: Shape, other: Shape) -> float:
    """The largest distance between two shapes, relative to the size of the first; 1 if one of them
    is empty.
    """
    size = float(np.linalg.norm(np.ptp(one.points, axis=0))) if len(one.points) else 0.0
    if len(one.points) == len(other.points):
        furthest = np.linalg.norm(one.points - other.points, axis=1).max(initial=0.0)
    elif len(one.triangles) and len(other.triangles):
        furthest = max(reach(one, other), reach(other, one))
    else:
        return 1.0
    return float(furthest) / size if size > 0.0 else 0.0


def reach(one: Shape, other: Shape) -> float:
    """The largest distance of vertices of a surface, evenly chosen, from another surface."""
    tree = BVHTree.FromPolygons(other.points.tolist(), other.triangles.tolist())
    used = np.unique(one.triangles)
    chosen = used[:: max(1, len(used) // LOOKED_AT)]
    return max(tree.find_nearest(point)[3] for point in one.points[chosen].tolist())
