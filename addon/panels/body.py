"""The model of the body."""

import bpy

from ..core.flesh.settings import BodyKind
from ..core.mesh.maps import Kind
from .sidebar import BodyPanel


class JOUNCE_PT_build(BodyPanel, bpy.types.Panel):
    """The model of the body"""

    bl_label = "Body"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the inputs of the model."""
        layout, state = self.layout_and_state(context)
        layout.prop(state, "kind")
        DRAWN[BodyKind(state.kind)](layout, state)


def draw_loose(layout: bpy.types.UILayout, state: bpy.types.PropertyGroup) -> None:
    """Shows the inputs of a loose body's model."""
    layout.prop(state, "resolution")
    layout.prop(state, "handles")
    layout.prop(state, "clusters")


def draw_attached(layout: bpy.types.UILayout, state: bpy.types.PropertyGroup) -> None:
    """Shows the inputs of an attached body's model."""
    layout.prop(state, "handles")
    layout.prop(state, "thickness")
    layout.prop(state, "bending")
    layout.prop(state, "hold_frequency")
    if not state.pin_group:
        paint = layout.operator("jounce.map_paint", text="Paint What Is Held", icon="BRUSH_DATA")
        paint.kind = Kind.PIN.value


def draw_pinned(layout: bpy.types.UILayout, state: bpy.types.PropertyGroup) -> None:
    """Shows the inputs of a pinned body's model."""
    layout.prop(state, "resolution")
    layout.prop(state, "pieces")
    paint = layout.operator("jounce.map_paint", text="Paint What Is Held", icon="BRUSH_DATA")
    paint.kind = Kind.PIN.value


def draw_rigged(layout: bpy.types.UILayout, state: bpy.types.PropertyGroup) -> None:
    """Shows the inputs of the model of flesh on a rig."""
    layout.prop(state, "resolution")
    layout.prop(state, "modes")
    layout.prop(state, "locality")
    layout.prop(state, "forces")
    layout.prop(state, "clusters")
    layout.prop(state, "poisson")
    layout.prop(state, "bones_counting")
    if state.bones_counting == "PICKED":
        layout.prop(state, "bones_collection", icon="GROUP_BONE")
    layout.prop(state, "shape_keys_count")


DRAWN = {
    BodyKind.RIGGED: draw_rigged,
    BodyKind.LOOSE: draw_loose,
    BodyKind.ATTACHED: draw_attached,
    BodyKind.PINNED: draw_pinned,
}
