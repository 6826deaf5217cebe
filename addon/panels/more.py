"""Parent of all panels beside the main one, and what is rarely done to a body as a whole."""

import bpy

from .sidebar import BodyPanel


class JOUNCE_PT_more(BodyPanel, bpy.types.Panel):
    """Everything beside the common settings"""

    bl_label = "More"
    bl_parent_id = "JOUNCE_PT_main"

    def draw(self, _context: bpy.types.Context) -> None:
        """Shows the buttons that add or remove meshes, build, copy settings, and remove Jounce."""
        column = self.layout.column(align=True)
        column.operator("jounce.body_add", icon="ADD")
        column.operator("jounce.body_remove", icon="REMOVE")
        column = self.layout.column(align=True)
        column.operator("jounce.build", icon="MOD_BUILD")
        column.operator("jounce.settings_copy", icon="PASTEDOWN")
        column.operator("jounce.remove", icon="X")
