"""Reads the posed shape of meshes with rigs other than linear skinning.

The artist's meshes carry more than the rig: a preview, a bake, modifiers that change the vertices. While
frames are read, each such mesh has a double reduced to the rig. The double is hidden and evaluated with the
scene, with all switches and keys of each frame.
"""

from dataclasses import dataclass

import bpy
import numpy as np

from ...core.common.user_error import UserError
from ...core.mesh.rest_check import posed_points
from ...core.mesh.surface import Part
from ..body.bodies import BodyScene
from ..common import units
from ..rig import armature_modifier, bone_transforms, doubles, rig_stack

# Largest displacement of a vertex, as a share of the size, for a rig equal to linear skinning.
NOTHING = 1e-5
# Number of points for the place of a body.
SPOTS = 64


@dataclass(frozen=True)
class PosedShape:
    """The surface of a body in one frame.

    offsets: (p, 3), metres, from linear skinning; None without any. spots: (k, 3), metres, points all over
    the surface. switches: active modifiers of its rig.
    """

    offsets: np.ndarray | None
    spots: np.ndarray
    switches: tuple[bool, ...]


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
                    made = doubles.double(obj, rig_stack.stack(obj).rig)
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

    def read(self, depsgraph: bpy.types.Depsgraph, pose: np.ndarray) -> PosedShape | None:
        """The shape in the evaluated frame, with a pose (b, 3, 4); None for a linear rig."""
        if not self._doubles:
            return None
        linear = posed_points(self._surface, pose)
        offsets, switches = np.zeros_like(linear), []
        for part, obj, made in self._doubles:
            local = doubles.evaluated_points(made, depsgraph)
            if len(local) != part.points.stop - part.points.start:
                raise UserError(f"The rig of {obj.name} changes its number of vertices; apply what does.")
            posed = units.points_in_metres(local, bone_transforms.world_matrix(obj, depsgraph), self._scale)
            if not np.isfinite(posed).all():
                raise bone_transforms.Unposable(f"the rig of {obj.name} puts vertices at no finite place")
            # Followers show the flesh of another mesh, no motion of the rig.
            offsets[part.points] = part.alone(part.stood_in(posed) - linear[part.points])
            switches += [modifier.show_viewport for modifier in made.evaluated_get(depsgraph).modifiers]
        is_more = np.abs(offsets).max() > NOTHING * self._surface.diagonal
        spots = (linear + offsets)[:: max(1, len(linear) // SPOTS)]
        return PosedShape(offsets if is_more else None, spots, tuple(switches))

    def close(self) -> None:
        """Takes the doubles away."""
        for _, _, made in self._doubles:
            doubles.remove(made)
        self._doubles = []
