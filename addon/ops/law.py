"""jounce.law_straighten and law_spline: give the law of a body a curve of its own, straight or stiffened."""

import bpy
import numpy as np
from bpy.props import EnumProperty

from ..bridge.body import law_curves
from ..core.flesh import drawn_law
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


SIDES = (
    ("COMPRESSION", "Resist Compression", "Squeezed flesh stiffens, stretched flesh does not"),
    ("TENSION", "Resist Tension", "Stretched flesh stiffens, squeezed flesh does not"),
)
# Number of points of the curve, enough to follow the formula and few enough to move by hand.
POINTS = 9


class JOUNCE_OT_law_spline(JounceOperator):
    """Replace the curve of this body's law by one that stiffens on one side of rest"""

    bl_idname = "jounce.law_spline"
    bl_label = "Stiffen"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.drawn_law,)

    side: EnumProperty(name="Side", description="Strains at which flesh stiffens", items=SIDES)

    def run(self, context: bpy.types.Context) -> str:
        """Replaces the curve by a spline."""
        host = needs.drawn_law(context)
        stretches = np.linspace(drawn_law.LEAST, drawn_law.MOST, POINTS)
        stresses = drawn_law.stiffened(self.side, stretches)
        law_curves.draw(host, [[x, y, "AUTO"] for x, y in zip(stretches, stresses, strict=True)])
        host.update_tag()
        return f"The law of {host.name} stiffens on one side of rest; draw it further in the panel Motion."
