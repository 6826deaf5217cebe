"""The stitch groups of the body."""

import bpy

from ..core.body import built_bodies
from ..core.display.fields import Field
from ..core.flesh.settings import BodyKind
from . import sidebar
from .sidebar import BodyPanel, keyed


class JOUNCE_UL_seams(bpy.types.UIList):
    """The stitch groups, each with its switch and its number of stitches"""

    def draw_item(
        self,
        _context: bpy.types.Context,
        layout: bpy.types.UILayout,
        _data: bpy.types.AnyType,
        item: bpy.types.PropertyGroup,
        _icon: int,
        _active: object,
        _property: str,
        _index: int = 0,
        _flag: int = 0,
    ) -> None:
        """One stitch group."""
        row = layout.row(align=True)
        row.prop(item, "use", text="")
        row.prop(item, "name", text="", emboss=False)
        row.label(text=f"{len(item.pairs)}")


class JOUNCE_PT_stitches(BodyPanel, bpy.types.Panel):
    """Stitches between meshes or within a mesh"""

    bl_label = "Stitches"
    kinds = frozenset((BodyKind.RIGGED,))

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the stitch groups, and buttons for making them."""
        layout, state = self.layout_and_state(context)
        row = layout.row()
        row.template_list("JOUNCE_UL_seams", "", state, "seams", state, "seam_index", rows=2)
        row.operator("jounce.stitch_remove", icon="REMOVE", text="")
        if 0 <= state.seam_index < len(state.seams):
            seam = state.seams[state.seam_index]
            keyed(layout).prop(seam, "closed")
            layout.prop(seam, "stiffness")
            layout.prop(seam, "keep_gap")
            layout.prop(seam, "radius")
        column = layout.column(align=True)
        column.operator("jounce.stitch_nearest", icon="LINKED")
        column.operator("jounce.stitch_selected", icon="VERTEXSEL")
        column.operator("jounce.stitch_groups", icon="GROUP_VERTEX")
        column.operator("jounce.sew", icon="AUTOMERGE_ON")
        layout.prop(context.window_manager.jounce, "show_seams")
        layout.operator("jounce.build", text="Apply", icon="MOD_BUILD")
        draw_residual(layout, state, context)


def draw_residual(
    layout: bpy.types.UILayout, state: bpy.types.PropertyGroup, context: bpy.types.Context
) -> None:
    """Shows the accuracy of updated modes, and the overlay that displays the errors."""
    body = built_bodies.CACHE.get(state.built_digest)
    if body is None or not body.residual:
        return
    column = sidebar.wrapped(layout, context, text=f"Modes within about {body.residual:.2%}", icon="INFO")
    column.prop_enum(context.window_manager.jounce, "field", Field.RESIDUAL.value)
