"""jounce.law_straighten: a straight curve of the body's own as the law of its flesh."""

import bpy

from ..bridge.body import law_curves
from . import needs
from .operator import JounceOperator


class JOUNCE_OT_law_straighten(JounceOperator):
    """Make the curve of the law a straight line again, one of this body's own"""

    bl_idname = "jounce.law_straighten"
    bl_label = "Straighten"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.drawn_law,)

    def run(self, context: bpy.types.Context) -> str:
        """Puts a new curve in the place of the one that is there."""
        host = needs.drawn_law(context)
        law_curves.straighten(host)
        host.update_tag()
        return f"The law of {host.name} is a straight line; draw it in the panel Motion."
