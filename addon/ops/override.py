"""jounce.override: lets a linked character be worked on in this file."""

import bpy

from ..bridge import overrides, preview
from ..core.refusal import Refusal
from .operator import JounceOperator


class JOUNCE_OT_override(JounceOperator):
    """Make a library override of the linked character, so that its flesh moves in this file too"""

    bl_idname = "jounce.override"
    bl_label = "Make Library Override"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: bpy.types.Context) -> str:
        """Overrides it, and makes its host active."""
        active = context.view_layer.objects.active
        if active is None:
            raise Refusal("No object is active; select the linked character.")
        made = overrides.make(active, context)
        for obj in context.selected_objects:
            obj.select_set(False)
        chosen = next((obj for obj in made if obj.jounce.is_host), made[0])
        chosen.select_set(True)
        context.view_layer.objects.active = chosen
        preview.sync()
        return f"{chosen.name} and {len(made) - 1} other object(s) are library overrides."
