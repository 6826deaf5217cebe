"""Adds Jounce to an object or takes it away."""

import bpy

from ..bridge import bodies
from .sidebar import SidebarPanel


class JOUNCE_PT_main(SidebarPanel, bpy.types.Panel):
    """Add or remove Jounce"""

    bl_label = "Jounce"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Shown everywhere in the sidebar, in the Physics tab for meshes alone."""
        return cls.bl_space_type == "VIEW_3D" or context.object.type == "MESH"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the button that applies to the active object."""
        layout = self.layout
        if context.object is None or context.object.type != "MESH":
            layout.label(text="Select a mesh", icon="INFO")
            return
        host = bodies.host_of(context.object)
        if host is None:
            layout.operator("jounce.add", icon="ADD")
            return
        if host != context.object:
            layout.label(text=f"Part of {host.name}", icon="LINKED")
        layout.operator("jounce.remove", icon="X")
