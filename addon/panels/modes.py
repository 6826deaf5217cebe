"""The modes of the body."""

import bpy

from ..core.flesh.settings import BodyKind
from . import sidebar
from .sidebar import BodyPanel


class JOUNCE_UL_modes(bpy.types.UIList):
    """The modes, lowest first, with their frequencies"""

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        state: bpy.types.PropertyGroup,
        mode: bpy.types.PropertyGroup,
        _icon: int,
        _active: bpy.types.PropertyGroup,
        _name: str,
        index: int,
    ) -> None:
        """One mode: number, frequency, play button."""
        row = layout.row()
        row.label(text=f"Mode {index + 1}")
        row.label(text=f"{mode.ratio * state.lowest_frequency():.2f} Hz")
        row.operator("jounce.flex_mode", text="", icon="PLAY", emboss=False).mode = index


class JOUNCE_PT_modes(BodyPanel, bpy.types.Panel):
    """The modes of the body"""

    bl_label = "Modes"
    kinds = frozenset((BodyKind.RIGGED,))

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the list, or its requirements."""
        layout, state = self.layout_and_state(context)
        if not state.modes_built:
            sidebar.wrapped(layout, context, text="Build to see the modes", icon="INFO")
            layout.operator("jounce.build", icon="MOD_BUILD")
            return
        layout.template_list("JOUNCE_UL_modes", "", state, "modes_built", state, "mode_index", rows=4)
        row = layout.row()
        row.use_property_split = False
        row.prop_enum(context.window_manager.jounce, "field", "WEIGHTS", text="Show on Mesh")
