"""Doubles of the artist's meshes: the same object with a copy of the mesh and some of the modifiers."""

from collections.abc import Collection

import bpy
import numpy as np

from ..common import marks, registry
from ..keys import key_removal
from . import meshes

DOUBLE = "Jounce Double"


def double(obj: bpy.types.Object, kept: Collection[str]) -> bpy.types.Object:
    """A copy of an object and its mesh with these modifiers, their switches and their animation.

    kept: names of modifiers.
    """
    made = obj.copy()
    if made.override_library is not None:
        made.make_local(clear_liboverride=True)
    made.name = f"{DOUBLE} {obj.name}"
    made.data = obj.data.copy()
    made.data.name = made.name
    for block in (made, made.data):
        marks.put(block, marks.STAGE)
    with key_removal.leaving_no_block(made):
        key_removal.free_copy(made)
    made.property_unset("jounce")
    for modifier in [modifier for modifier in made.modifiers if modifier.name not in kept]:
        made.modifiers.remove(modifier)
    made.constraints.new("COPY_TRANSFORMS").target = obj
    return made


def hold_still(made: bpy.types.Object) -> None:
    """Gives a double the mesh at rest: no shape keys and no animated vertices."""
    points = meshes.rest_points(made)
    with key_removal.leaving_no_block(made):
        made.shape_key_clear()
    made.data.animation_data_clear()
    put_points(made, points)


def put_points(made: bpy.types.Object, points: np.ndarray) -> None:
    """Moves the vertices of a double without shape keys, (p, 3)."""
    made.data.attributes["position"].data.foreach_set("vector", points.astype(np.float32).ravel())
    # Normals are others too.
    made.data.update()


def evaluated_points(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
    """Vertices (p, 3) f64 of an object in the evaluated scene, in its own space."""
    attribute = obj.evaluated_get(depsgraph).data.attributes["position"]
    flat = np.empty(3 * len(attribute.data), np.float32)
    attribute.data.foreach_get("vector", flat)
    return flat.reshape(-1, 3).astype(np.float64)


def remove(made: bpy.types.Object) -> None:
    """Removes a double and its mesh from the file, unless already removed."""
    if registry.is_there(made):
        mesh = made.data
        bpy.data.objects.remove(made)
        bpy.data.meshes.remove(mesh)
