"""jounce.free_bake: takes a bake away."""

from contextlib import suppress

import bpy

from ..bridge.bake import bakes
from ..bridge.body import bodies
from ..bridge.preview import previews
from ..core.common.user_error import UserError
from .operator import JounceOperator


class JOUNCE_OT_free_bake(JounceOperator):
    """Remove everything that a bake added to the selected bodies, and nothing else"""

    bl_idname = "jounce.free_bake"
    bl_label = "Free Bake"
    bl_options = {"UNDO"}

    def run(self, context: bpy.types.Context) -> str:
        """Frees every mesh of the selected bodies; a window shows the flesh again of those that showed it."""
        hosts = bodies.dressed(bodies.hosts(context))
        for obj in (obj for host in hosts for obj in bodies.members(host)):
            bakes.refuse_stuck(obj)
        for host in hosts:
            for obj in bodies.members(host):
                bakes.free_all(obj)
            was_previewed = host.jounce.bake_hid_preview
            bakes.forget(host)
            # In the background nobody looks, and scripts switch previews themselves.
            if was_previewed and not bpy.app.background:
                with suppress(UserError):
                    previews.switch_on(host)
        return f"Freed the bake of {', '.join(host.name for host in hosts)}."
