"""A browser for a folder of actions."""

import bpy

from ..core.flesh.settings import BodyKind
from . import sidebar
from .sidebar import BodyPanel


class JOUNCE_UL_clips(bpy.types.UIList):
    """The actions of the folder, by name"""


class JOUNCE_PT_clips(BodyPanel, bpy.types.Panel):
    """Actions for this kind of rig, such as those of Mixamo"""

    bl_label = "Actions"
    kinds = frozenset((BodyKind.RIGGED,))

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the folder, its actions, and their buttons."""
        layout, state = self.layout, context.scene.jounce
        row = layout.row(align=True)
        row.prop(state, "clip_folder", text="")
        row.operator("jounce.clips_list", text="", icon="FILE_REFRESH")
        if not state.clips:
            sidebar.wrapped(layout, context, text="Choose a folder of FBX files, and list it", icon="INFO")
            return
        layout.template_list("JOUNCE_UL_clips", "", state, "clips", state, "clip_index", rows=4)
        row = layout.row(align=True)
        row.operator("jounce.clip_assign", text="", icon="TRIA_LEFT").step = -1
        row.operator("jounce.clip_assign", icon="ACTION").step = 0
        row.operator("jounce.clip_assign", text="", icon="TRIA_RIGHT").step = 1
        layout.operator("jounce.clips_bake", icon="RENDER_ANIMATION")
