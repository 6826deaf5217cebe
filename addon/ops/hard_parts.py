"""jounce.mark_rigid: makes faces of a body, such as a loose part, follow their bones."""

import bpy
from bpy.props import BoolProperty

from ..bridge.body import bodies, hard_parts
from ..bridge.rig import meshes
from ..core.common.user_error import UserError
from . import needs
from .build import then_seen
from .operator import JounceOperator


class JOUNCE_OT_mark_rigid(JounceOperator):
    """Mark the selected faces as rigid, like a horn or a buckle; with Bone Core only"""

    bl_idname = "jounce.mark_rigid"
    bl_label = "Mark Rigid"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.active_part,)

    clear: BoolProperty(
        name="Clear", description="Remove the marks from the selected faces", options={"SKIP_SAVE"}
    )

    def run(self, context: bpy.types.Context) -> str:
        """Marks the selected faces of all meshes in Edit Mode, or of the active one."""
        host = needs.active_part(context)
        edited = context.objects_in_mode if context.mode == "EDIT_MESH" else [context.object]
        objects = [obj for obj in edited if bodies.host_of(obj) is not None]
        for obj in objects:
            meshes.refuse_unpaintable(obj)
        count = sum(hard_parts.mark(obj, not self.clear) for obj in objects)
        if count == 0:
            raise UserError(f"No face of {context.object.name} is selected; select some in Edit Mode first.")
        return f"{count} face(s) are {'soft' if self.clear else 'rigid'}; {then_seen(host)}."
