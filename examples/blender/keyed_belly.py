"""The creature's belly keyed in a frame of its jump, as if sculpted by an artist."""

from __future__ import annotations

import bpy
import flesh
import lesson
import numpy as np
import studio
from subjects import BELLY, BELLY_RADIUS, Shape

# Frame of the key, and how far the belly is pulled there, as a share of the size.
KEY, PULLED = 22, np.array([0.0, -0.09, -0.05])
FIRMNESS = 5.0


class KeyedBelly(lesson.Jump):
    """The jumping creature, a draft."""

    def __init__(self) -> None:
        """Build it."""
        super().__init__(FIRMNESS)
        self.state.quality = "DRAFT"

    def keyed(self) -> list[Shape]:
        """The jump with the key, kept from a sculpted copy."""
        sculpt(self.meshes[0], KEY, BELLY, BELLY_RADIUS, PULLED)
        return self.filled()

    def without_swing(self) -> list[Shape]:
        """The same, straight to the shape and back."""
        self.state.flesh_keys[0].swing = 0.0
        return self.filled()


def sculpt(mesh: bpy.types.Object, frame: int, centre: np.ndarray, radius: float, pulled: np.ndarray) -> None:
    """Keys a frame of a mesh with a handful pulled. centre: at rest. pulled: as a share of the size."""
    flesh.select([mesh])
    rest = np.array([mesh.matrix_world @ vertex.co for vertex in mesh.data.vertices])
    size = np.linalg.norm(np.ptp(rest, axis=0))
    share = np.maximum(0.0, 1.0 - ((rest - centre) ** 2).sum(axis=1) / radius**2) ** 2
    bpy.context.scene.frame_set(frame)
    bpy.ops.jounce.key_sculpt()
    copy = bpy.context.view_layer.objects.active
    bpy.ops.object.mode_set(mode="OBJECT")
    [[shown]] = studio.record([copy], range(frame, frame + 1))
    local = np.linalg.inv(np.array(copy.matrix_world))
    places = shown + share[:, np.newaxis] * size * pulled
    points = places @ local[:3, :3].T + local[:3, 3]
    copy.data.vertices.foreach_set("co", points.astype(np.float32).ravel())
    copy.data.update()
    bpy.ops.jounce.key_sculpted()
