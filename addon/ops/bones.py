"""jounce.bone_leak, jounce.bone_role: give bones a momentum leak and a role of their own."""

import bpy
from bpy.props import EnumProperty, FloatProperty, StringProperty

from ..bridge.body import bodies
from ..bridge.rig import armature_modifier, bone_transforms
from ..core.common.user_error import UserError
from ..props.bones import ROLES
from .build import then_seen
from .operator import JounceOperator

COLLECTION = StringProperty(
    name="Bone Collection",
    description="The bones of this collection, nested collections included, instead of the selected bones",
)


class JOUNCE_OT_bone_leak(JounceOperator):
    """Let more or less momentum of the selected bones into their flesh, without a vertex group"""

    bl_idname = "jounce.bone_leak"
    bl_label = "Leak of Bones"
    bl_options = {"REGISTER", "UNDO"}

    value: FloatProperty(
        name="Momentum Leak",
        description="1 lets the bones' momentum in as usual, 0 not at all, without unit",
        default=0.5,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    collection: COLLECTION

    def run(self, context: bpy.types.Context) -> str:
        """Sets the leak of the bones of the selected bodies."""
        bones, seen = chosen(context, self.collection)
        for bone in bones:
            bone.jounce_leak = self.value
        return f"{len(bones)} bone(s) leak {self.value:.2g} of the usual momentum; {seen}."


class JOUNCE_OT_bone_role(JounceOperator):
    """Set the behaviour of the selected bones' flesh in a body with a bone core"""

    bl_idname = "jounce.bone_role"
    bl_label = "Role of Bones"
    bl_options = {"REGISTER", "UNDO"}

    role: EnumProperty(name="Role", description="Behaviour of the bones' flesh", items=ROLES)
    collection: COLLECTION

    def run(self, context: bpy.types.Context) -> str:
        """Sets the role of the bones of the selected bodies."""
        bones, seen = chosen(context, self.collection)
        for bone in bones:
            bone.jounce_role = self.role
        return f"{len(bones)} bone(s) are {self.role.lower()}; {seen}."


def chosen(context: bpy.types.Context, collection: str) -> tuple[list[bpy.types.PoseBone], str]:
    """The bones in a collection or the selected ones that move the selected bodies, and when the effect
    shows.
    """
    bones, hosts = [], bodies.hosts(context)
    for host in hosts:
        for armature in armature_modifier.armatures(bodies.members(host)):
            bones += bone_transforms.chosen_bones(armature, collection)
    if not bones:
        wanted = f"in the bone collection {collection}" if collection else "selected"
        raise UserError(f"No bone that moves the body is {wanted}; select some in Pose Mode first.")
    return bones, then_seen(hosts[0])
