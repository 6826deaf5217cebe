"""jounce.remove: leaves the objects as they were before jounce.add."""

import bpy

from ..bridge import bakes, bodies, final_files, hard_parts, motions, preview
from .operator import JounceOperator


class JOUNCE_OT_remove(JounceOperator):
    """Take Jounce off the selected bodies, with their bakes and settings"""

    bl_idname = "jounce.remove"
    bl_label = "Remove Jounce"
    bl_options = {"UNDO"}

    def run(self, context: bpy.types.Context) -> str:
        """Frees and unmarks every mesh of the selected bodies."""
        hosts = bodies.hosts(context)
        for obj in (obj for host in hosts for obj in bodies.members(host)):
            bakes.refuse_stuck(obj)
        for host in hosts:
            preview.switch_off(host)
            motions.forget(host)
            final_files.delete(host)
            for obj in bodies.members(host):
                bakes.free(obj)
                hard_parts.forget(obj)
                obj.property_unset("jounce")
        return f"Removed Jounce from {', '.join(host.name for host in hosts)}."
