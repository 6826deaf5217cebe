"""The modes of a body, its spectrum and samples, and facts in the words of the solver."""

import bpy

from ..bridge.body import bodies
from ..bridge.common.words import worded
from ..bridge.motions import learnt_store
from ..bridge.preview import displayed_modes, scrubbing
from ..bridge.rig import meshes
from ..core.display.modes import Family
from ..core.shot.fitting import Reason
from . import sidebar
from .learning import draw_lesson
from .part_list import label
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


def draw_fit(layout: bpy.types.UILayout, state: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Shows the numbers of the last fit, a line for the body and one for each part."""
    if state.fitted_reason not in Reason.__members__ or state.frequency != state.fitted_frequency:
        return
    lines = [
        worded(
            "Fit to Shot: {hertz} Hz, feels {amount} of the rig's acceleration, moves {size}; {reason}",
            hertz=f"{state.frequency:.3g}",
            amount=f"{state.shot_amount:.0%}",
            size=f"{state.fitted_size:.2%}",
            reason=worded(Reason[state.fitted_reason].value),
        )
    ]
    told = ((part, part.report) for part in state.parts if state.has_list)
    lines += [
        worded(
            "{part}: {hertz} Hz, moves {size}; {reason}",
            part=label(part.name),
            hertz=f"{report.hertz:.2g}" if report.hertz else "?",
            size=f"{report.size:.1%}",
            reason=worded(report.reason.value),
        )
        for part, report in told
        if report is not None
    ]
    for line in lines:
        sidebar.wrapped(layout, context, text=line, translate=False)


class JOUNCE_PT_inside(BodyPanel, bpy.types.Panel):
    """Modes, spectrum, samples, convergence and memory, for those who look inside"""

    bl_label = "Inside"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the result of the last build, the modes, the learnt shots, and the last measurement."""
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
        if state.is_flesh:
            draw_fit(layout.column(align=True), state, context)
            draw_modes(layout, host, context)
        known = learnt_store.of(host)
        if known is not None:
            draw_lesson(layout.column(align=True), known, context)
            layout.prop(context.window_manager.jounce, "samples")
        if state.is_flesh and state.preview:
            draw_measured(layout, host, context)


def draw_modes(layout: bpy.types.UILayout, host: bpy.types.Object, context: bpy.types.Context) -> None:
    """Shows the shapes of a body with the slider that puts them on the mesh, or their requirements."""
    state, settings = host.jounce, context.window_manager.jounce
    if not state.modes_built:
        sidebar.wrapped(layout, context, text="Build to see the modes", icon="INFO")
        layout.operator("jounce.build", icon="MOD_BUILD")
        return
    scrubbing.seen()
    layout.prop(settings, "family")
    if Family(settings.family) is Family.SKINNING:
        layout.template_list("JOUNCE_UL_modes", "", state, "modes_built", state, "mode_index", rows=4)
        row = layout.row()
        row.use_property_split = False
        row.prop_enum(settings, "field", "WEIGHTS", text="Show on Mesh")
    else:
        draw_vibrations(layout, host, context)
    layout.prop(settings, "scrub", slider=True)
    if scrubbing.trouble:
        sidebar.said(layout, context, scrubbing.trouble)
    layout.prop(settings, "spectrum")


def draw_vibrations(layout: bpy.types.UILayout, host: bpy.types.Object, context: bpy.types.Context) -> None:
    """Shows the chosen linear mode or derivative, or the button that computes them."""
    settings, known = context.window_manager.jounce, displayed_modes.vibrations(host)
    if known is None:
        layout.operator("jounce.linear_modes", icon="MOD_WAVE")
        return
    is_linear = Family(settings.family) is Family.LINEAR
    count = len(known.modes if is_linear else known.derivatives)
    number = min(settings.number, count) - 1
    row = layout.row(align=True)
    row.prop(settings, "number")
    row.operator("jounce.flex_mode", text="", icon="PLAY").mode = number
    if is_linear:
        hertz = host.jounce.lowest_frequency() * known.ratios[number]
        text = f"Linear mode {number + 1} of {count}, {hertz:.2f} Hz"
    else:
        first, second = known.pair(number)
        text = f"Derivative {number + 1} of {count}: mode {first + 1} along mode {second + 1}"
    sidebar.wrapped(layout, context, text=text, translate=False)


def draw_measured(layout: bpy.types.UILayout, host: bpy.types.Object, context: bpy.types.Context) -> None:
    """Shows the button for measuring the shown frame, and the last measurement."""
    layout.operator("jounce.measure_frame", icon="TIME")
    found = displayed_modes.MEASURED.get(host.session_uid)
    if found is None:
        return
    column = layout.column(align=True)
    end = "converged" if found.report.converged else "not converged"
    for text in (
        f"{found.motion}, frame {found.frame}: {1e3 * found.seconds:.2f} ms",
        f"{found.report.iterations} iterations, residual {found.report.residual:.1e}, {end}",
        f"Model {found.model / 1e6:.1f} MB, cache {found.cache / 1e6:.1f} MB",
    ):
        sidebar.wrapped(column, context, text=text, translate=False)
