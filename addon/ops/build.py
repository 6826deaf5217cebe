"""jounce.build: makes the model of a body."""

import bpy

from ..bridge import bodies, builds, preview
from ..bridge.deformers import Warn
from ..core import bodies as built
from ..core.task import Task, in_turn
from .operator import LongOperator


class JOUNCE_OT_build(LongOperator):
    """Build the volume, the modes and the model of the selected bodies from their meshes and rigs"""

    bl_idname = "jounce.build"
    bl_label = "Build"
    bl_options = {"UNDO"}

    def task(self, context: bpy.types.Context) -> Task:
        """Builds one body after the other."""
        parts = (build_body(host, context, self.warn) for host in bodies.hosts(context))
        return "; ".join((yield from in_turn(parts)))


def build_body(host: bpy.types.Object, context: bpy.types.Context, warn: Warn) -> Task:
    """Builds the body of a host where its meshes stand now; stopped or refused, the body stays as it was."""
    before = {obj: tuple(obj.jounce.bind_matrix) for obj in bodies.members(host)}
    finished = False
    try:
        bodies.bind(host, context)
        scene = bodies.read(host, context, warn)
        message = yield from built.build(scene.surface, host.jounce.build_settings())
        finished = True
    finally:
        if not finished:
            for obj, matrix in before.items():
                obj.jounce.bind_matrix = matrix
    digest = scene.surface.digest(host.jounce.build_settings())
    builds.remember(host, built.CACHE.get(digest), digest, message, context)
    preview.renew(host)
    return f"{host.name}: {message}"
