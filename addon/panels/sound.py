"""The sound of a body."""

import bpy

from ..core.flesh.settings import BodyKind
from . import sidebar
from .sidebar import BodyPanel


class JOUNCE_PT_sound(BodyPanel, bpy.types.Panel):
    """Sound of the body under impacts"""

    bl_label = "Sound"
    kinds = frozenset((BodyKind.RIGGED, BodyKind.LOOSE))

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the sounding material and the baked sound."""
        layout, state = self.layout_and_state(context)
        layout.prop(state, "sound_material")
        layout.prop(state, "sound_pitch")
        layout.prop(state, "sound_quietest")
        layout.prop(state, "sound_ring_out")
        row = layout.row(align=True)
        row.operator("jounce.bake_sound", icon="SPEAKER")
        row.operator("jounce.free_sound", icon="TRASH", text="")
        if state.bake_sound is not None:
            sidebar.wrapped(layout, context, text=state.bake_sound.name, icon="SOUND", translate=False)
