"""Settings of a bone for its flesh, in the Bone tab of the Properties editor."""

import bpy


class JOUNCE_PT_bone(bpy.types.Panel):
    """Settings of one bone for the flesh that it moves"""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone"
    bl_label = "Jounce"
    bl_options = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Shown for bones outside of Edit Mode that move something."""
        bone = getattr(context, "pose_bone", None) or context.active_pose_bone
        return bone is not None and bone.bone.use_deform and context.object.mode != "EDIT"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the role and the leak of the bone."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        bone = getattr(context, "pose_bone", None) or context.active_pose_bone
        self.layout.prop(bone, "jounce_role")
        self.layout.prop(bone, "jounce_leak")
