"""jounce.select_copy: selects the copy for game engines, ready for an exporter."""

import bpy

from ..bridge.body import bodies
from ..core.common.user_error import UserError
from . import needs
from .operator import JounceOperator


class JOUNCE_OT_select_copy(JounceOperator):
    """Select only the copy with helper bones, for an exporter of selected objects"""

    bl_idname = "jounce.select_copy"
    bl_label = "Select Copy"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.copied,)

    def run(self, context: bpy.types.Context) -> str:
        """Selects the copies of all selected bodies."""
        hosts = bodies.hosts(context)
        meshes = [obj.jounce.bake_copy for host in hosts for obj in bodies.members(host)]
        shown = [made for made in meshes if made is not None and made.visible_get()]
        if not shown:
            raise UserError("No copy is visible; bake to Helper Bones (Copy), or show its collection.")
        if context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        for obj in context.selected_objects:
            obj.select_set(False)
        parents = dict.fromkeys(made.parent for made in shown if made.parent is not None)
        armatures = [armature for armature in parents if armature.visible_get()]
        for obj in (*shown, *armatures):
            obj.select_set(True)
        context.view_layer.objects.active = (*armatures, *shown)[0]
        return f"Selected {', '.join(made.name for made in shown)}, with their armature."
