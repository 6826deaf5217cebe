"""Bone core, flesh and hard parts of the body."""

import bpy

from ..core.flesh.settings import BodyKind
from .sidebar import BodyPanel


class JOUNCE_PT_parts(BodyPanel, bpy.types.Panel):
    """Bone core, flesh and hard parts of the body"""

    bl_label = "Bones"
    kinds = frozenset((BodyKind.RIGGED,))

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the core, the role of the active bone, and the hard parts of the active mesh."""
        layout, state = self.layout_and_state(context)
        row = layout.row(align=True)
        row.prop(state, "bone_core")
        row.prop(context.window_manager.jounce, "show_core", text="", icon="HIDE_OFF")
        column = layout.column()
        column.active = state.bone_core > 0.0
        column.prop(state, "anatomy")
        obj, bone = context.object, context.active_pose_bone
        if bone is not None:
            column.prop(bone, "jounce_role", text=bone.name, translate=False)
            column.operator_menu_enum("jounce.bone_role", "role")
        if obj.type == "MESH":
            column.prop(obj.jounce, "is_rigid")
            if obj.active_material is not None:
                column.prop(obj.active_material, "jounce_rigid", text="Rigid Material")
            row = column.row(align=True)
            row.operator("jounce.mark_rigid", icon="FACESEL")
            row.operator("jounce.mark_rigid", text="Clear", icon="X").clear = True
