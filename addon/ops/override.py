"""jounce.override: lets a linked character be worked on in this file."""

import bpy

from ..bridge.body import overrides
from ..bridge.common import registry
from ..bridge.preview import previews
from . import needs
from .operator import JounceOperator


class JOUNCE_OT_override(JounceOperator):
    """Make a library override of the linked character, to move its flesh in this file too"""

    bl_idname = "jounce.override"
    bl_label = "Make Library Override"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.linked,)

    def run(self, context: bpy.types.Context) -> str:
        """Makes the override, and activates its host, or another editable object of the character."""
        made = overrides.make(needs.linked(context), context)
        for obj in context.selected_objects:
            obj.select_set(False)
        # Objects of excluded collections can be neither selected nor active.
        seen = set(context.view_layer.objects).intersection(made)
        if seen:
            chosen = min(seen, key=rank)
            chosen.select_set(True)
            context.view_layer.objects.active = chosen
        previews.sync()
        return f"{len(made)} object(s) are library overrides now."


def rank(obj: bpy.types.Object) -> tuple[bool, bool, str]:
    """Hosts come first, then other meshes and armatures, each by name."""
    return not registry.is_host(obj), obj.type not in ("MESH", "ARMATURE"), obj.name
