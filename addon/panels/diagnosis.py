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
    # Width as a popover, in buttons.
    bl_ui_units_x = 14

    def draw_header_preset(self, context: bpy.types.Context) -> None:
        """Shows the number of findings, also in the closed panel."""
        count = found(bodies.host_of(context.object))
        if count:
            self.layout.label(text=f"{count}", icon="INFO")

    def draw(self, context: bpy.types.Context) -> None:
        """Shows each finding, with a fix, if any."""
        layout, state = self.layout_and_state(context)
        layout.operator("jounce.diagnose", icon="VIEWZOOM")
        is_fitted = not draw_difference(layout, context)
        if state.is_diagnosed and not state.findings and is_fitted:
            sidebar.wrapped(layout, context, text="Nothing found", icon="CHECKMARK")
        for index, finding in enumerate(state.findings):
            box = said(layout, context, finding.sentence)
            if finding.fix in FIXES:
                box.operator("jounce.fix", text=FIXES[finding.fix][0]).index = index


def found(host: bpy.types.Object) -> int:
    """The number of findings, a difference of the played animation included."""
    return len(host.jounce.findings) + bool(played_actions.difference(host))


def draw_count(layout: bpy.types.UILayout, host: bpy.types.Object) -> None:
    """Shows the number of findings, which open on a press; nothing without any."""
    count = found(host)
    if count:
        text = f"{bpy.app.translations.pgettext_iface('Diagnosis', 'Jounce')}: {count}"
        layout.popover("JOUNCE_PT_diagnosis", text=text, icon="ERROR", translate=False)


def draw_difference(layout: bpy.types.UILayout, context: bpy.types.Context) -> bool:
    """Warns, with a button, if the playing animation is not the fitted one; True for a warning."""
    sentence = played_actions.difference(bodies.host_of(context.object))
    if sentence:
        said(layout, context, sentence).operator("jounce.fit_again", icon="FILE_REFRESH")
    return bool(sentence)
