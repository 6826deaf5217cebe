"""Possible problems of the body, with buttons for their fixes."""

import bpy

from ..bridge.body import bodies
from ..bridge.body.diagnosis import FIXES
from ..bridge.inputs import played_actions
from . import sidebar
from .sidebar import BodyPanel, said


class JOUNCE_PT_diagnosis(BodyPanel, bpy.types.Panel):
    """Possible problems of the body"""

    bl_label = "Diagnosis"
    bl_options = {"DEFAULT_CLOSED"}

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        """Shows the number of findings, also in the closed panel."""
        _, state = self.layout_and_state(context)
        count = len(state.findings) + bool(played_actions.difference(bodies.host_of(context.object)))
        if count:
            self.layout.label(text=f"{count}", icon="INFO")

    def draw(self, context: bpy.types.Context) -> None:
        """Shows each finding, with its fix if there is one."""
        layout, state = self.layout_and_state(context)
        layout.operator("jounce.diagnose", icon="VIEWZOOM")
        is_fitted = not draw_difference(layout, context)
        if state.is_diagnosed and not state.findings and is_fitted:
            sidebar.wrapped(layout, context, text="Nothing found", icon="CHECKMARK")
        for index, found in enumerate(state.findings):
            box = said(layout, context, found.sentence)
            if found.fix in FIXES:
                box.operator("jounce.fix", text=FIXES[found.fix][0]).index = index


def draw_difference(layout: bpy.types.UILayout, context: bpy.types.Context) -> bool:
    """Shows that another animation plays than in the fit, with a button; True if so."""
    sentence = played_actions.difference(bodies.host_of(context.object))
    if sentence:
        said(layout, context, sentence).operator("jounce.fit_again", icon="FILE_REFRESH")
    return bool(sentence)
