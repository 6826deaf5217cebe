"""Parent of all panels beside the main one, and what is rarely done to a body as a whole."""

import bpy

from .sidebar import BodyPanel


class JOUNCE_PT_more(BodyPanel, bpy.types.Panel):
    """Everything beside the common settings"""

    bl_label = "More"
    bl_parent_id = "JOUNCE_PT_main"

    def draw(self, _context: bpy.types.Context) -> None:
        """Shows the buttons for meshes, the build, settings, and the removal of Jounce."""
        column = self.layout.column(align=True)
        column.operator("jounce.body_add", icon="ADD")
        column.operator("jounce.body_remove", icon="REMOVE")
        column = self.layout.column(align=True)
        column.operator("jounce.build", icon="MOD_BUILD")
        column.operator("jounce.settings_copy", icon="PASTEDOWN")
        row = column.row(align=True)
        row.operator("jounce.settings_save", icon="EXPORT")
        row.operator("jounce.settings_load", icon="IMPORT")
        column.operator("jounce.remove", icon="X")
