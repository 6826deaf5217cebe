"""jounce.free_bake: takes the baked shape keys away."""

import bpy

from ..bridge import bodies, shape_keys
from .operator import JounceOperator


class JOUNCE_OT_free_bake(JounceOperator):
    """Take the baked shape keys and their action off the selected bodies; all else stays"""

    bl_idname = "jounce.free_bake"
    bl_label = "Free Bake"
    bl_options = {"UNDO"}

    def run(self, context: bpy.types.Context) -> str:
        """Frees every mesh of the selected bodies."""
        hosts = bodies.hosts(context)
        for host in hosts:
            for obj in bodies.members(host):
                shape_keys.free(obj)
            host.jounce.property_unset("bake_error")
        return f"Freed the bake of {', '.join(host.name for host in hosts)}."
