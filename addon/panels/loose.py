"""How a loose body starts, and where it is held."""

import bpy

from ..bridge.body import bodies
from .sidebar import BodyPanel, keyed


class JOUNCE_PT_loose(BodyPanel, bpy.types.Panel):
    """How a loose body starts, and where it is held"""

    bl_label = "Start"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Shown for loose bodies."""
        host = None if context.object is None else bodies.host_of(context.object)
        return host is not None and host.jounce.is_loose

    def draw(self, context: bpy.types.Context) -> None:
        """Shows how fast it is where its object stands, when it starts again, and when that holds it."""
        layout, state = self.layout_and_state(context)
        layout.prop(state, "velocity")
        layout.prop(state, "spin")
        keyed(layout).prop(state, "cut")
        keyed(layout).prop(state, "animated")
        layout.prop(state, "catch")
