"""Reads the posed shape of meshes with rigs other than linear skinning.

The artist's meshes carry more than the rig: a preview, a bake, modifiers that change the vertices. While
frames are read, each such mesh has a double: the same object with a copy of the mesh, reduced to the rig. The
double copies the transform of its original, is hidden, and is evaluated with the scene; the artist's data
stays untouched.
"""

from collections.abc import Collection

import bpy
import numpy as np

from ...core.rest_check import posed_points
from ...core.surface import Part
from ...core.user_error import UserError
from ..bake import shape_keys
from ..body.bodies import BodyScene
from ..common import marks, registry, units
from . import armature_modifier, bone_transforms, rig_stack

DOUBLE = "Jounce Double"


class PosedShapes:
    """Difference of a body's rig from linear skinning, frame by frame. Close after use."""

    def __init__(
        self, body: object, body_scene: BodyScene, scene: bpy.types.Scene, view_layer: bpy.types.ViewLayer
    ) -> None:
        """body: built from the surface of body_scene. scene: evaluates the doubles, in view_layer."""
        self.body = body
        self._surface = body_scene.surface
        self._scale = units.metres_per_unit(scene)
        self._doubles: list[tuple[Part, bpy.types.Object, bpy.types.Object]] = []
        try:
            for obj, part in zip(body_scene.objects, body_scene.surface.parts, strict=True):
                if not rig_stack.is_linear(obj, armature_modifier.deformer(obj, lambda _: None)):
                    made = double(obj, [modifier.name for modifier in rig_stack.modifiers(obj)])
                    self._doubles.append((part, obj, made))
                    scene.collection.objects.link(made)
                    made.hide_set(True, view_layer=view_layer)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "PosedShapes":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self, depsgraph: bpy.types.Depsgraph, pose: np.ndarray) -> np.ndarray | None:
        """Offsets from linear skinning with a pose (b, 3, 4), (p, 3) in metres; None for a linear rig."""
        if not self._doubles:
            return None
        linear = posed_points(self._surface, pose)
        offsets = np.zeros_like(linear)
        for part, obj, made in self._doubles:
            local = evaluated_points(made, depsgraph)
            if len(local) != part.points.stop - part.points.start:
                raise UserError(f"The rig of {obj.name} changes its number of vertices; apply what does.")
            posed = units.points_in_metres(local, bone_transforms.world_matrix(obj, depsgraph), self._scale)
            if not np.isfinite(posed).all():
                raise bone_transforms.Unposable(f"the rig of {obj.name} puts vertices at no finite place")
            offsets[part.points] = part.stood_in(posed) - linear[part.points]
        return offsets

    def close(self) -> None:
        """Takes the doubles away."""
        for made in (made for _, _, made in self._doubles if registry.is_there(made)):
            mesh = made.data
            bpy.data.objects.remove(made)
            bpy.data.meshes.remove(mesh)
        self._doubles = []


def double(obj: bpy.types.Object, kept: Collection[str]) -> bpy.types.Object:
    """A copy of an object and its mesh with only the modifiers of these names, in the object's place."""
    made = obj.copy()
    if made.override_library is not None:
        made.make_local(clear_liboverride=True)
    made.name = f"{DOUBLE} {obj.name}"
    made.data = obj.data.copy()
    made.data.name = made.name
    for block in (made, made.data):
        marks.put(block, marks.STAGE)
    with shape_keys.leaving_no_block(made):
        shape_keys.free_copy(made)
    made.property_unset("jounce")
    for modifier in [modifier for modifier in made.modifiers if modifier.name not in kept]:
        made.modifiers.remove(modifier)
    made.constraints.new("COPY_TRANSFORMS").target = obj
    return made


def evaluated_points(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
    """Vertices (p, 3) f64 of an object in the evaluated scene, in object space."""
    attribute = obj.evaluated_get(depsgraph).data.attributes["position"]
    flat = np.empty(3 * len(attribute.data), np.float32)
    attribute.data.foreach_get("vector", flat)
    return flat.reshape(-1, 3).astype(np.float64)
