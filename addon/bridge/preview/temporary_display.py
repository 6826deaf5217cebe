"""Temporary display of other displacements on a body, previewed or not, and restoring of the earlier ones."""

import bpy
import jounce
import numpy as np

from ...core.body import built_bodies
from ...core.common.user_error import UserError
from ..body import bodies
from ..common import registry, units
from ..rig import preview_modifier
from . import previews


class Shown:
    """A body with a paused preview. Close after use."""

    def __init__(self, host: bpy.types.Object, scene: bpy.types.Scene) -> None:
        self._host = host
        self._scene = scene
        self._parts = bodies.fleshed(host)
        self._added = [obj for obj in self._parts if not preview_modifier.is_shown(obj)]
        for obj in self._added:
            preview_modifier.add(obj)
        previews.pause()

    def write(self, displacement: np.ndarray) -> None:
        """Shows a displacement (p, 3) f32 of the body's render vertices, in metres."""
        scaled = displacement / np.float32(units.metres_per_unit(self._scene))
        start = 0
        for obj in self._parts:
            end = start + len(obj.data.vertices)
            preview_modifier.write(obj, scaled[start:end])
            start = end

    def close(self) -> None:
        """Restores everything."""
        previews.resume()
        for obj in filter(registry.is_there, self._added):
            preview_modifier.remove(obj)
        known = previews.session(self._host) if registry.is_there(self._host) else None
        if known is not None and known.display is not None:
            known.forget_shown()
            known.enter_frame(self._scene.frame_current)


def body_of(host: bpy.types.Object) -> "jounce.Body":
    """The built body of a host, refused if not in memory or for changed meshes."""
    body = built_bodies.CACHE.get(host.jounce.built_digest)
    if body is None:
        raise UserError(f"The body of {host.name} is not in memory; build it first.")
    if sum(len(obj.data.vertices) for obj in bodies.fleshed(host)) != len(body.embedding.points):
        raise UserError(f"{host.name} has changed since it was built; build it again.")
    return body


def sideways(context: bpy.types.Context) -> np.ndarray:
    """The direction to the right in the viewport, (3,) in the world; the world's X without a viewport."""
    view = context.region_data
    return np.array([1.0, 0.0, 0.0]) if view is None else np.array(view.view_matrix)[0, :3]
