"""jounce.region: makes a part of the body a belly, an ear, a tail ..., several maps at once."""

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty

from ..bridge.body import bodies, diagnosis, weight_maps
from ..core.maps import Kind
from . import needs
from .build import then_seen
from .maps import RADIUS, active_mesh, ball_part, bones_part, selected_part
from .operator import JounceOperator

WHERE = (
    ("SELECTION", "Selected Vertices", "The vertices that were selected in Edit Mode"),
    ("BONES", "Selected Bones", "What the bones selected in Pose Mode move, blended as their weights are"),
    ("CURSOR", "Around the Cursor", "A ball around the 3D cursor, fading out"),
)


def weight(name: str, description: str, default: float) -> FloatProperty:
    """A property for the weight of a map."""
    return FloatProperty(
        name=name, description=description, default=default, min=0.0, max=1.0, subtype="FACTOR"
    )


class JOUNCE_OT_region(JounceOperator):
    """Give a part of the body its own stiffness, strength and leak: an ear, a belly, a tail"""

    bl_idname = "jounce.region"
    bl_label = "Region"
    bl_options = {"REGISTER", "UNDO", "PRESET"}
    needs = (needs.paintable,)

    where: EnumProperty(name="Where", description="Which part of the active mesh", items=WHERE)
    radius: RADIUS
    stiffness: weight(
        "Stiffness", "Weight in the stiffness map: 0.5 as it is, 0 as soft as the map goes, 1 as stiff", 0.2
    )
    elsewhere: weight(
        "Elsewhere", "Stiffness of all other parts where the body has no stiffness map yet", 0.5
    )
    strength: weight(
        "Strength", "Weight in the strength map: how much of the rig's acceleration it feels", 1.0
    )
    leak: weight("Momentum Leak", "Weight in the leak map: how much of the bones' momentum gets in", 1.0)

    def draw(self, _context: bpy.types.Context) -> None:
        """Shows the radius only for a sphere."""
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "where")
        if self.where == "CURSOR":
            layout.prop(self, "radius")
        for name in ("stiffness", "elsewhere", "strength", "leak"):
            layout.prop(self, name)

    def run(self, context: bpy.types.Context) -> str:
        """Changes the three maps within the part."""
        obj, host = active_mesh(context)
        part, objects = self.part(context, obj), bodies.members(host)
        is_new = not weight_maps.is_on(host, obj, Kind.STIFFNESS)
        for kind, value in (
            (Kind.STIFFNESS, self.stiffness),
            (Kind.STRENGTH, self.strength),
            (Kind.LEAK, self.leak),
        ):
            known = before = weight_maps.values(host, objects, obj, kind)
            if kind is Kind.STIFFNESS and is_new:
                before = np.full(len(before), self.elsewhere)
            values = before + part * (value - before)
            if (values != known).any():
                weight_maps.fill(obj, weight_maps.ensure(host, objects, obj, kind), values)
        diagnosis.renew(host, "clear_map", context)
        count = np.count_nonzero(part)
        return f"{obj.name}: {count} vertices are a region of their own; {then_seen(host)}."

    def part(self, context: bpy.types.Context, obj: bpy.types.Object) -> np.ndarray:
        """Share of each vertex in the region, (p,) in [0, 1]."""
        if self.where == "SELECTION":
            return selected_part(obj)
        if self.where == "BONES":
            return bones_part(obj, self.warn)
        return ball_part(obj, context, self.radius)
