"""jounce.remove: restores the objects to their state before jounce.add."""

import bpy

from ..bridge.bake import bakes, sounds
from ..bridge.body import bodies, clothes, hard_parts, law_curves, roots
from ..bridge.inputs import collider_objects
from ..bridge.motions import final_files, learnt_store, motions
from ..bridge.preview import previews, sculpting
from .operator import JounceOperator


class JOUNCE_OT_remove(JounceOperator):
    """Remove Jounce from the selected bodies, with their bakes and settings"""

    bl_idname = "jounce.remove"
    bl_label = "Remove Jounce"
    bl_options = {"UNDO"}

    def run(self, context: bpy.types.Context) -> str:
        """Frees and unmarks every mesh of the selected bodies."""
        hosts = bodies.dressed(bodies.hosts(context))
        for obj in (obj for host in hosts for obj in bodies.members(host)):
            bakes.refuse_stuck(obj)
        for copy in sculpting.copies_of(obj for host in hosts for obj in bodies.members(host)):
            sculpting.discard(copy, context)
        names = ", ".join(host.name for host in hosts)
        for host in hosts:
            previews.switch_off(host)
            forget(host)
            for obj in bodies.members(host):
                bakes.free_all(obj)
                hard_parts.forget(obj)
                roots.forget(obj)
                clothes.forget(obj)
        return f"Removed Jounce from {names}."


def forget(host: bpy.types.Object) -> None:
    """Removes a host's stored data and the objects made for its body, except settings and bakes."""
    motions.forget(host)
    learnt_store.forget(host)
    final_files.forget(host)
    collider_objects.forget(host)
    sounds.free(host)
    law_curves.forget(host)
