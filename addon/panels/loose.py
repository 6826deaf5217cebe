"""How a loose body starts."""

import bpy

from ..bridge.body import bodies
from .sidebar import BodyPanel, keyed


class JOUNCE_PT_loose(BodyPanel, bpy.types.Panel):
    """How a loose body starts"""

    bl_label = "Start"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Shown for loose bodies."""
        host = None if context.object is None else bodies.host_of(context.object)
        return host is not None and host.jounce.is_loose

    def draw(self, context: bpy.types.Context) -> None:
        """Shows how fast it is where its object stands, and when it starts again."""
        layout, state = self.layout_and_state(context)
        layout.prop(state, "velocity")
        layout.prop(state, "spin")
        keyed(layout).prop(state, "cut")
