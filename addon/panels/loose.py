"""Start of a loose body, and times of its hold."""

import bpy

from ..bridge.body import bodies
from .sidebar import BodyPanel, keyed


class JOUNCE_PT_loose(BodyPanel, bpy.types.Panel):
    """Start of a loose body, and times of its hold"""

    bl_label = "Start"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Shown for loose bodies."""
        host = None if context.object is None else bodies.host_of(context.object)
        return host is not None and host.jounce.is_loose

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the velocity at the object, the frames of a new start, and the holds by the object."""
        layout, state = self.layout_and_state(context)
        layout.prop(state, "velocity")
        layout.prop(state, "spin")
        keyed(layout).prop(state, "cut")
        keyed(layout).prop(state, "animated")
        layout.prop(state, "catch")
