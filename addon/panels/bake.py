"""The baked motion."""

import bpy

from ..bridge.bake import kept, renders
from ..bridge.body import bodies
from . import sidebar
from .sidebar import BodyPanel


def draw_result(
    layout: bpy.types.UILayout, state: bpy.types.PropertyGroup, context: bpy.types.Context
) -> None:
    """Shows the result of the last bake."""
    first, last = state.bake_range
    lines = layout.column(align=True)
    for part in state.bake_parts.split(", "):
        sidebar.wrapped(lines, context, text=part)
    sidebar.wrapped(lines, context, text=f"Error {state.bake_error:.3%} of the size at most")
    if state.bake_depth > 0.0:
        text = f"Up to {state.bake_depth:.1%} of the size inside of colliders"
        sidebar.wrapped(lines, context, text=text)
    if state.bake_draft_error > 0.0:
        sidebar.wrapped(lines, context, text=f"The draft is {state.bake_draft_error:.0%} off")
    sidebar.wrapped(lines, context, text=f"Frames {first} to {last}; still outside")


class JOUNCE_PT_bake(BodyPanel, bpy.types.Panel):
    """The baked motion"""

    bl_label = "Bake"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the settings of the bake and its target."""
        layout, state = self.layout_and_state(context)
        layout.prop(state, "target")
        if state.target == "MODAL_KEYS":
            layout.prop(state, "tolerance")
            layout.prop(state, "max_keys")
        elif state.target == "MESH_CACHE":
            layout.prop(state, "cache_folder")
        elif state.target == "HELPER_BONES":
            layout.prop(state, "helper_count")
            layout.prop(state, "helper_influences")
        elif state.target == "OWN_BONES":
            layout.prop(state, "own_collection", icon="GROUP_BONE")
            layout.prop(state, "own_turn_only")
        can_loop = state.is_flesh or state.is_attached
        if can_loop:
            layout.prop(state, "loop")
        if not (state.is_loose or can_loop and state.loops or state.start == "MOVING"):
            layout.prop(state, "pre_roll")
        if state.bake_parts:
            draw_result(layout, state, context)
        if state.kind == "RIGGED":
            layout.operator("jounce.bake_actions", icon="ACTION")
            layout.operator("jounce.export_games", icon="EXPORT")
            layout.operator("jounce.export_springs", icon="EXPORT")
            layout.operator("jounce.export_training", icon="EXPORT")
        baked = kept.names(bodies.host_of(context.object))
        if baked:
            sidebar.wrapped(layout, context, text=", ".join(baked), icon="CHECKMARK", translate=False)
        if len(renders.built(context.scene)) > 1:
            whole = layout.operator("jounce.bake", text="Bake Whole Scene", icon="SCENE_DATA")
            whole.whole_scene = True
        if state.bake_copy is not None:
            layout.operator("jounce.select_copy", icon="RESTRICT_SELECT_OFF")
        if state.bake_parts:
            layout.operator_menu_enum("jounce.export", "file_format", icon="EXPORT")
        if bodies.host_of(context.object) in renders.unbaked(context.scene):
            sidebar.wrapped(layout, context, text="Not baked: renders lack the flesh", icon="ERROR")
