"""What may be wrong with the body, with buttons that mend it."""

import textwrap

import bpy

from ..bridge.diagnosis import FIXES
from .sidebar import BodyPanel

# Characters that fit into a line, for each pixel of the panel's width at a scale of 1.
CHARACTERS_PER_PIXEL = 0.14


class JOUNCE_PT_diagnosis(BodyPanel, bpy.types.Panel):
    """What may be wrong with the body"""

    bl_label = "Diagnosis"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        """Shows how many findings wait, while the panel is closed too."""
        _, state = self.layout_and_state(context)
        if state.findings:
            self.layout.label(text=f"{len(state.findings)}", icon="INFO")

    def draw(self, context: bpy.types.Context) -> None:
        """Shows each finding, with its fix where there is one."""
        layout, state = self.layout_and_state(context)
        layout.operator("jounce.diagnose", icon="VIEWZOOM")
        if state.is_diagnosed and not state.findings:
            layout.label(text="Nothing found", icon="CHECKMARK")
        scale = context.preferences.system.ui_scale
        width = max(20, int(context.region.width / scale * CHARACTERS_PER_PIXEL))
        for index, found in enumerate(state.findings):
            box = layout.box().column(align=True)
            for line, text in enumerate(textwrap.wrap(found.sentence, width)):
                box.label(text=text, icon="INFO" if line == 0 else "BLANK1")
            if found.fix in FIXES:
                box.operator("jounce.fix", text=FIXES[found.fix][0]).index = index
