"""jounce.wind: a wind with gusts for the bodies of a scene."""

import bpy

from ..bridge.body import bodies
from ..bridge.loads import force_fields, wind
from ..core.common.user_error import UserError
from . import needs
from .operator import JounceOperator


class JOUNCE_OT_wind(JounceOperator):
    """Add a wind with gusts: two force fields, felt by all bodies of the scene and open to your changes"""

    bl_idname = "jounce.wind"
    bl_label = "Wind"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.active_body, needs.out_of_edit_mode)

    def run(self, context: bpy.types.Context) -> str:
        """Adds the fields beside the active body."""
        host = needs.active_body(context)
        blowing = next((o for o in force_fields.acting(host, context.scene) if o.field.type == "WIND"), None)
        if blowing is not None:
            raise UserError(f"{host.name} feels the wind of {blowing.name} already; change its Strength.")
        if host.jounce.field_weight == 0.0:
            raise UserError(
                f"{host.name} feels no force fields; raise Force Fields in the panel Forces and Resets first."
            )
        surface = bodies.read(host, context, self.warn).surface
        middle = 0.5 * (surface.points.min(axis=0) + surface.points.max(axis=0))
        made = wind.add(context.scene, middle, surface.diagonal)
        collection = host.jounce.field_collection
        if collection is not None:
            for obj in (made, *made.children):
                collection.objects.link(obj)
        return f"{made.name} blows along X with gusts; turn it, or change the Strength of its field."
