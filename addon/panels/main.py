"""Adds Jounce to an object or removes it."""

import bpy

from ..bridge.body import bodies, overrides
from . import sidebar
from .sidebar import SidebarPanel


class JOUNCE_PT_main(SidebarPanel, bpy.types.Panel):
    """Add or remove Jounce"""

    bl_label = "Jounce"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Shown everywhere in the sidebar, in the Physics tab for meshes alone."""
        return cls.bl_space_type == "VIEW_3D" or context.object.type == "MESH"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the button for the active object."""
        layout, obj = self.layout, context.object
        linked = None if obj is None else overrides.linked_of(obj, context.scene)
        if linked is not None:
            if overrides.stands_still(linked):
                sidebar.wrapped(layout, context, text="Linked: its flesh stands still", icon="ERROR")
            else:
                sidebar.wrapped(layout, context, text="Linked from another file", icon="LINKED")
            layout.operator("jounce.override", icon="LIBRARY_DATA_OVERRIDE")
            return
        if obj is None or obj.type not in ("MESH", "ARMATURE"):
            sidebar.wrapped(layout, context, text="Select a mesh or an armature", icon="INFO")
            return
        host = bodies.host_of(obj)
        if host is None:
            layout.operator("jounce.setup", icon="ADD")
            if bpy.ops.jounce.body_add.poll():
                layout.operator("jounce.body_add", icon="ADD")
            return
        if host != obj:
            relation = "Moves" if obj.type == "ARMATURE" else "Part of"
            sidebar.wrapped(layout, context, text=f"{relation} {host.name}", icon="LINKED")
        column = layout.column(align=True)
        column.operator("jounce.body_add", icon="ADD")
        column.operator("jounce.body_remove", icon="REMOVE")
        layout.operator("jounce.build", icon="MOD_BUILD")
        layout.operator("jounce.remove", icon="X")
