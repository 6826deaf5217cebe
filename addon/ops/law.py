"""jounce.law_straighten: resets the elastic law of a body to its own straight curve."""

import bpy

from ..bridge.body import law_curves
from . import needs
from .operator import JounceOperator


class JOUNCE_OT_law_straighten(JounceOperator):
    """Make the curve of this body's law a straight line again"""

    bl_idname = "jounce.law_straighten"
    bl_label = "Straighten"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.drawn_law,)

    def run(self, context: bpy.types.Context) -> str:
        """Replaces the curve by a new one."""
        host = needs.drawn_law(context)
        law_curves.straighten(host)
        host.update_tag()
        return f"The law of {host.name} is a straight line; draw it in the panel Motion."
