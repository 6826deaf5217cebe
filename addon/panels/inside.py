"""Facts about the built body and its learnt basis, in the words of the solver."""

import bpy

from ..bridge.body import bodies
from ..bridge.motions import lessons
from ..bridge.rig import meshes
from . import sidebar
from .learning import draw_lesson
from .sidebar import BodyPanel


class JOUNCE_PT_inside(BodyPanel, bpy.types.Panel):
    """Facts about the built body, and about what was learnt of a shot"""

    bl_label = "Inside"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the result of the last build, the faces without flesh, and the learnt shots."""
        layout, state = self.layout_and_state(context)
        host = bodies.host_of(context.object)
        if not state.built_summary:
            sidebar.wrapped(layout, context, text="Not built yet", icon="INFO")
        parts = state.built_summary.split(", ")
        column = layout.column(align=True)
        for line in filter(None, (", ".join(parts[:2]), ", ".join(parts[2:]))):
            sidebar.wrapped(column, context, text=line, translate=False)
        for sentence in filter(None, map(meshes.hidden_faces_sentence, bodies.members(host))):
            sidebar.wrapped(layout, context, text=sentence, translate=False)
        known = lessons.of(host)
        if known is not None:
            draw_lesson(layout.column(align=True), known, context)
