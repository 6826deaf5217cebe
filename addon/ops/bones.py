"""jounce.bone_leak: gives bones a momentum leak of their own."""

import bpy
from bpy.props import FloatProperty, StringProperty

from ..bridge import bodies, deformers, rigs
from ..core.refusal import Refusal
from .build import then_seen
from .operator import JounceOperator


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
    collection: StringProperty(
        name="Bone Collection",
        description="The bones of this collection, and of those inside it, instead of the selected ones",
    )

    def run(self, context: bpy.types.Context) -> str:
        """Sets it on the bones that move the selected bodies."""
        bones, hosts = [], bodies.hosts(context)
        for host in hosts:
            for armature in deformers.armatures(bodies.members(host)):
                bones += rigs.chosen_bones(armature, self.collection)
        if not bones:
            wanted = f"in the bone collection {self.collection}" if self.collection else "selected"
            raise Refusal(f"No bone that moves the body is {wanted}; select some in Pose Mode first.")
        for bone in bones:
            bone.jounce_leak = self.value
        return f"{len(bones)} bone(s) leak {self.value:.2g} of the usual momentum; {then_seen(hosts[0])}."
