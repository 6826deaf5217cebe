"""Operators that add colliders to a body, and remove obstacles to collisions."""

import bpy
from bpy.props import StringProperty

from ..bridge.body import bodies, diagnosis
from ..bridge.inputs import collider_objects
from ..bridge.preview import evaluated_meshes
from ..bridge.rig import bone_transforms
from ..core.common.user_error import UserError
from . import needs
from .operator import JounceOperator


class JOUNCE_OT_ground(JounceOperator):
    """Collide with a new ground below the body (loose: at 0), or with a selected, wide enough one"""

    bl_idname = "jounce.ground"
    bl_label = "Ground"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.active_body, needs.out_of_edit_mode)

    def run(self, context: bpy.types.Context) -> str:
        """Adds the ground or the objects to the collection of the active body."""
        host, depsgraph = needs.active_body(context), context.evaluated_depsgraph_get()
        members = bodies.members(host)
        shapes = [evaluated_meshes.shape(obj, depsgraph).in_metres(1.0) for obj in members]
        beside = [
            obj
            for obj in collider_objects.selected(context)
            if collider_objects.is_ground(obj, shapes, depsgraph)
        ]
        if not beside:
            level = collider_objects.level(members) if host.jounce.is_loose else None
            beside = [collider_objects.ground(shapes, level)]
        collider_objects.put(host, beside, context.scene)
        return f"{host.name} collides with {', '.join(obj.name for obj in beside)}."


class JOUNCE_OT_collider_add(JounceOperator):
    """Collide with the selected meshes, empties and other characters; loose bodies also with loose ones"""

    bl_idname = "jounce.collider_add"
    bl_label = "Add Selected"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.active_body, needs.colliders)

    def run(self, context: bpy.types.Context) -> str:
        """Adds the objects to the collection of the active body."""
        host, beside = needs.active_body(context), needs.colliders(context)
        collider_objects.put(host, beside, context.scene)
        return f"{host.name} collides with {', '.join(obj.name for obj in beside)}."


class JOUNCE_OT_bone_capsules(JounceOperator):
    """Collide with capsules fitted to the limbs; in Pose Mode, to the selected bones"""

    bl_idname = "jounce.bone_capsules"
    bl_label = "Capsules of Bones"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.active_body, needs.out_of_edit_mode)

    def run(self, context: bpy.types.Context) -> str:
        """Adds the capsules to the collection of the active body, over earlier ones."""
        host = needs.active_body(context)
        body = bodies.read(host, context, self.warn)
        chosen = None
        if context.mode == "POSE":
            armatures = body.reader.armatures
            bones = (bone for each in armatures for bone in bone_transforms.chosen_bones(each, ""))
            chosen = {(bone.id_data, bone.name) for bone in bones}
        capsules = collider_objects.fits(body, chosen)
        if not capsules:
            which = "None of the selected bones" if chosen is not None else "No limb"
            raise UserError(
                f"{which} of {host.name} has enough flesh for a capsule; select other bones in Pose Mode."
            )
        collider_objects.put_bones(body, capsules, context.scene)
        return f"{host.name} collides with capsules of {len(capsules)} bone(s)."


class JOUNCE_OT_collisions_fix(JounceOperator):
    """Change this setting to let the body collide"""

    bl_idname = "jounce.collisions_fix"
    bl_label = "Let It Collide"
    bl_options = {"UNDO"}
    needs = (needs.hindered,)

    fix: StringProperty(name="Fix", description="The setting to change")

    def run(self, context: bpy.types.Context) -> str:
        """Changes one setting of the active body."""
        host = needs.active_body(context)
        if self.fix not in needs.hindered(context):
            raise UserError(f"Nothing of this kind keeps {host.name} from colliding.")
        label, fix = diagnosis.FIXES[self.fix]
        fix(host, "", context)
        return f"{host.name}: {label}."
