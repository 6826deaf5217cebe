"""Motion of the flesh."""

import bpy

from ..bridge.common import preset_files
from ..core.flesh.settings import Quality
from ..core.stepping.motion import physical_frequency
from . import sidebar
from .diagnosis import draw_difference
from .law import draw_law
from .preset_menu import draw_presets
from .sidebar import BodyPanel, keyed, said

# Frequency below which a body of a real material is implausibly large: a whale is above.
SLOWEST = 0.2
CONTRACTS = "Muscles contract in the final motion alone; the draft and what was learnt have none."


class JOUNCE_MT_materials(bpy.types.Menu):
    """Materials with physical values"""

    bl_label = title = "Materials"
    preset_subdir = preset_files.MATERIAL
    preset_operator = "script.execute_preset"
    draw = bpy.types.Menu.draw_preset


class JOUNCE_MT_bodies(bpy.types.Menu):
    """Presets of bodies, with amount, softness, damping and limits of the flesh"""

    bl_label = title = "Presets"
    preset_subdir = preset_files.BODY
    preset_operator = "script.execute_preset"
    draw = bpy.types.Menu.draw_preset


MENUS = JOUNCE_MT_bodies, JOUNCE_MT_materials


def draw_stiffness(
    layout: bpy.types.UILayout, state: bpy.types.PropertyGroup, context: bpy.types.Context
) -> None:
    """Shows the source of the stiffness, and for a material the resulting frequency."""
    if state.is_attached:
        layout.prop(state, "cloth_frequency")
        return
    if state.is_pinned:
        layout.prop(state, "swing_frequency")
        return
    layout.prop(state, "stiffness_by")
    if state.stiffness_by == "FREQUENCY":
        layout.prop(state, "frequency")
        if state.is_loose:
            return
        layout.prop(state, "frequency_of")
        layout.prop(state, "amount")
        layout.operator("jounce.fit", icon="DRIVER_DISTANCE")
        draw_difference(layout, context)
        return
    draw_presets(layout, state, JOUNCE_MT_materials, "jounce.material_preset_add")
    layout.prop(state, "young")
    layout.prop(state, "density")
    if state.built_frequency == 0.0:
        sidebar.wrapped(layout, context, text="Build to see the frequency", icon="INFO")
        return
    frequency = physical_frequency(state.built_frequency, state.material()) / state.softness**0.5
    sidebar.wrapped(layout, context, text=f"Softest part: {frequency:.3g} Hz")
    if frequency < SLOWEST:
        sidebar.wrapped(layout, context, text="Very slow: is the size in metres right?", icon="ERROR")


def draw_contraction(
    layout: bpy.types.UILayout, state: bpy.types.PropertyGroup, context: bpy.types.Context
) -> None:
    """Shows the contraction of muscles, and missing muscles."""
    muscles = [muscle for muscle in state.muscles if muscle.muscle_group]
    if not muscles:
        return
    for muscle in muscles:
        named = {"text": muscle.muscle_group, "translate": False} if len(state.muscles) > 1 else {}
        keyed(layout).prop(muscle, "contraction", **named)
    if state.simulated_quality is not Quality.FINAL:
        said(layout, context, CONTRACTS).prop_enum(state, "quality", Quality.FINAL.value)


class JOUNCE_PT_motion(BodyPanel, bpy.types.Panel):
    """Motion of the flesh"""

    bl_label = "Motion"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the settings of the motion."""
        layout, state = self.layout_and_state(context)
        if state.is_flesh:
            draw_presets(layout, state, JOUNCE_MT_bodies, "jounce.body_preset_add")
        draw_stiffness(layout, state, context)
        keyed(layout).prop(state, "damping")
        if state.is_loose:
            keyed(layout).prop(state, "inflation")
        if not state.is_loose:
            keyed(layout).prop(state, "strength")
        if state.is_flesh:
            layout.prop(state, "shot_amount")
            keyed(layout).prop(state, "pose_rest")
            draw_contraction(layout, state, context)
        if state.is_flesh and state.simulated_quality is not Quality.DRAFT:
            draw_law(layout, state, context)
        layout.prop(state, "substeps")
        layout.prop(state, "integrator")
        row = keyed(layout).row(heading="Gravity")
        row.prop(state, "use_gravity", text="")
        strength = row.row()
        strength.active = state.use_gravity
        strength.prop(state, "gravity", text="")
