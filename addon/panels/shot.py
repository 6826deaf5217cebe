"""Events in the shot beside the animation."""

import bpy

from ..bridge.body import bodies
from ..bridge.preview import previews
from ..core.flesh.settings import BodyKind
from . import sidebar
from .sidebar import BodyPanel, keyed

# Largest number of listed teleports; more of them indicate another problem.
NAMED = 8


def draw_limit(row: bpy.types.UILayout, state: bpy.types.PropertyGroup, name: str) -> None:
    """Shows a limit, greyed out if switched off."""
    row.prop(state, f"use_{name}", text="")
    limit = row.row()
    limit.active = getattr(state, f"use_{name}")
    limit.prop(state, name, text="")


def draw_teleports(
    layout: bpy.types.UILayout, context: bpy.types.Context, known: "previews.Session | None"
) -> None:
    """Shows the definition of a teleport, and the teleports found by the preview."""
    state = bodies.host_of(context.object).jounce
    row = layout.row(heading="Teleports")
    row.prop(state, "find_teleports", text="")
    least = row.row()
    least.active = state.find_teleports
    least.prop(state, "teleport", text="")
    found = [] if known is None else known.teleports()
    if found:
        more = " ..." if len(found) > NAMED else ""
        named = f"In frames {', '.join(map(str, found[:NAMED]))}{more}"
        sidebar.wrapped(layout, context, text=named, icon="INFO")


class JOUNCE_PT_shot(BodyPanel, bpy.types.Panel):
    """Events in the shot beside the animation"""

    bl_label = "Forces and Resets"
    kinds = frozenset(BodyKind)

    def draw(self, context: bpy.types.Context) -> None:
        """Shows forces, start and cuts of bodies on a rig, and limits of flesh."""
        layout, state = self.layout_and_state(context)
        if not state.is_loose:
            layout.prop(state, "start")
            keyed(layout).prop(state, "cut")
            layout.prop(state, "after_cut")
            draw_teleports(layout, context, previews.session(bodies.host_of(context.object)))
        keyed(layout).prop(state, "push")
        keyed(layout).prop(state, "field_weight")
        layout.prop(state, "field_collection")
        layout.operator("jounce.wind", icon="FORCE_WIND")
        if not state.is_flesh:
            return
        draw_limit(layout.row(heading="Maximum Displacement"), state, "limit")
        draw_limit(layout.row(heading="Maximum Stretch"), state, "stretch")
