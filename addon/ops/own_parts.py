"""jounce.part_*: parts of the artist's, from selected vertices or bones, a sphere, or a brush."""

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ..bridge.body import bodies, map_tools, weight_maps
from ..core.common.user_error import UserError
from ..core.rig.part_settings import LABELS
from ..props.parts import AMOUNT, SOFTNESS
from . import needs
from .build import then_seen
from .maps import RADIUS, active_mesh, ball_part, bones_part, selected_part
from .operator import JounceOperator

WHERE = (
    (
        "SELECTION",
        "Selected Vertices",
        "The vertices that were selected in Edit Mode, with a soft rim",
        "VERTEXSEL",
        0,
    ),
    (
        "BONES",
        "Selected Bones",
        "The vertices of the bones selected in Pose Mode, blended by the bones' weights",
        "BONE_DATA",
        1,
    ),
    ("CURSOR", "Around the Cursor", "A ball around the 3D cursor, fading out", "SPHERE", 2),
    ("PAINT", "Painted", "Nothing at first; paint it in Weight Paint Mode", "BRUSH_DATA", 3),
)
# Name of a new part.
NAME = "Part"

Shares = list[tuple[bpy.types.Object, np.ndarray]]


class JOUNCE_OT_part_add(JounceOperator):
    """Make your own part, with amount and softness in the list. A vertex group holds its region"""

    bl_idname = "jounce.part_add"
    bl_label = "Add Part"
    bl_options = {"REGISTER", "UNDO", "PRESET"}
    needs = (needs.paintable, needs.flesh)

    where: EnumProperty(name="Where", description="Place of the part on the active mesh", items=WHERE)
    part_name: StringProperty(
        name="Name", description="Name of the part and of its vertex group", default=NAME
    )
    rim: FloatProperty(
        name="Soft Rim",
        description=(
            "Distance of the fade-out around the vertices, along the surface, in percent of the size of "
            "the mesh"
        ),
        default=8.0,
        min=0.0,
        max=200.0,
        soft_max=50.0,
        subtype="PERCENTAGE",
    )
    radius: RADIUS
    mirror: BoolProperty(
        name="Both Sides", description="The same across the mesh's own YZ plane", default=False
    )
    amount: FloatProperty(
        name="Amount",
        description="Share of the rig's acceleration felt by the part, without unit: 0 none, 1 as before",
        **AMOUNT,
    )
    softness: FloatProperty(
        name="Softness",
        description=(
            "Softness of the part, without unit: 1 as before, 4 swings half as often, 0.25 twice as often"
        ),
        **SOFTNESS,
    )

    def draw(self, _context: bpy.types.Context) -> None:
        """Shows the settings that have an effect."""
        layout = self.layout
        layout.use_property_split = True
        reach = {"SELECTION": ["rim"], "CURSOR": ["radius"]}.get(self.where, [])
        mirror = [] if self.where == "PAINT" else ["mirror"]
        for name in ("where", "part_name", *reach, *mirror, "amount", "softness"):
            layout.prop(self, name)

    def run(self, context: bpy.types.Context) -> str:
        """Makes the vertex groups and lists the part."""
        obj, host = active_mesh(context)
        shares, state = self.shares(context, obj, host), host.jounce
        taken = {*LABELS, *LABELS.values(), *state.parts.keys()}
        name = weight_maps.free_name(bodies.members(host), self.part_name or NAME, taken)
        for mesh, share in shares:
            if share.any() or self.where == "PAINT":
                weight_maps.new(mesh, name, share)
        part = state.add_part(name)
        part.amount, part.softness = self.amount, self.softness
        if self.where == "PAINT":
            paint(obj, name, context)
            return f"{obj.name}: paint the part {name}; {then_seen(host)}."
        count = sum(np.count_nonzero(share) for _, share in shares)
        return f"{host.name}: {count} vertices are the part {name}; {then_seen(host)}."

    def shares(self, context: bpy.types.Context, obj: bpy.types.Object, host: bpy.types.Object) -> Shares:
        """Meshes of the body, the active one first, with the share of their vertices in the part."""
        if self.where == "PAINT":
            return [(obj, map_tools.nothing(obj))]
        others = [other for other in bodies.members(host) if other != obj]
        if self.where == "BONES":
            found = [(mesh, map_tools.of_bones(mesh)) for mesh in (obj, *others)]
            if not any(share.any() for _, share in found):
                # Refuses, and names the reason.
                bones_part(obj, self.warn)
            return [(mesh, self.sided(mesh, share)) for mesh, share in found]
        share = self.sided(obj, self.place(context, obj))
        return [(obj, share), *map_tools.spread(obj, share, others)]

    def place(self, context: bpy.types.Context, obj: bpy.types.Object) -> np.ndarray:
        """Share of each vertex of the active mesh, (p,) in [0, 1]."""
        if self.where == "SELECTION":
            return map_tools.rim(obj, selected_part(obj) > 0.0, self.rim / 100.0)
        return ball_part(obj, context, self.radius)

    def sided(self, obj: bpy.types.Object, share: np.ndarray) -> np.ndarray:
        """The shares (p,), on both sides if wanted."""
        return map_tools.on_both_sides(obj, share) if self.mirror else share


class JOUNCE_OT_part_paint(JounceOperator):
    """Paint the selected own part in Weight Paint Mode"""

    bl_idname = "jounce.part_paint"
    bl_label = "Paint Part"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.own_part, needs.paintable_in_sight)

    def run(self, context: bpy.types.Context) -> str:
        """Enters Weight Paint Mode on the part's vertex group, added if missing."""
        obj, _ = active_mesh(context)
        name = needs.own_part(context).name
        paint(obj, name, context)
        return f"{obj.name}: paint the part {name}."


class JOUNCE_OT_part_remove(JounceOperator):
    """Remove the selected own part from the list; the vertex group stays"""

    bl_idname = "jounce.part_remove"
    bl_label = "Remove Part"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.own_part,)

    def run(self, context: bpy.types.Context) -> str:
        """Removes the row."""
        host, name = needs.active_body(context), needs.own_part(context).name
        host.jounce.remove_part()
        return f"{host.name}: {name} is no part any more; its vertex group stays."


def paint(obj: bpy.types.Object, name: str, context: bpy.types.Context) -> None:
    """Enters Weight Paint Mode of a mesh on a vertex group."""
    if obj.hide_get():
        raise UserError(f"{obj.name} is hidden; show it before you paint it.")
    if context.view_layer.objects.active != obj:
        bpy.ops.object.mode_set(mode="OBJECT")
        context.view_layer.objects.active = obj
    weight_maps.activate(obj, name)
    bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
