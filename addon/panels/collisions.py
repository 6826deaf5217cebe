"""Collisions of the flesh."""

from collections import Counter
from collections.abc import Iterable

import bpy

from ..bridge.body import bodies, companions
from ..bridge.body.diagnosis import FIXES
from ..bridge.loads import colliders
from ..core.body.colliders import Kind
from .sidebar import BodyPanel, said

# Largest number of listed colliders; larger collections are set up per object.
LISTED = 12


def draw_hindrances(
    layout: bpy.types.UILayout, context: bpy.types.Context, hindrances: Iterable[tuple[str, str]]
) -> None:
    """Shows obstacles to collisions, each with the button of its fix."""
    for sentence, fix in hindrances:
        box = said(layout, context, sentence)
        if fix:
            box.operator("jounce.collisions_fix", text=FIXES[fix][0]).fix = fix


def on_bone(obj: bpy.types.Object) -> bool:
    """True for a collider made for a bone of a character."""
    return obj.jounce_of_bone and obj.parent is not None


def draw_colliders(layout: bpy.types.UILayout, host: bpy.types.Object) -> None:
    """Shows the number of colliders on bones of each character, and the shape of each other collider."""
    every = colliders.candidates(host)
    listed = [obj for obj in every if not on_bone(obj)]
    rows = layout.column(align=True)
    for rig, count in Counter(obj.parent for obj in every if on_bone(obj)).items():
        rows.label(text=f"{rig.name}: {count}", icon="BONE_DATA", translate=False)
    for obj in listed[:LISTED]:
        row = rows.row(align=True)
        row.label(text=obj.name, icon=f"OUTLINER_OB_{obj.type}", translate=False)
        is_soft = colliders.soft(host, obj) is not None
        if not is_soft:
            row.prop(obj, "jounce_shape", text="")
        if is_soft or Kind(obj.jounce_shape) in (Kind.MESH, Kind.AUTOMATIC) and obj.type == "MESH":
            row.prop(obj, "jounce_resolution", text="")
    if len(listed) > LISTED:
        rows.label(text="And more", icon="THREE_DOTS")


class JOUNCE_PT_collisions(BodyPanel, bpy.types.Panel):
    """Collisions of the flesh"""

    bl_label = "Collisions"

    def draw_header(self, context: bpy.types.Context) -> None:
        """Shows a switch that stays available in the closed panel."""
        self.layout.prop(bodies.host_of(context.object).jounce, "use_collisions", text="")

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the collection, its contents, and buttons for adding objects."""
        layout, state = self.layout_and_state(context)
        host = bodies.host_of(context.object)
        draw_hindrances(layout, context, colliders.hindrances(host))
        column = layout.column()
        column.active = state.use_collisions
        column.prop(state, "collision_collection")
        column.prop(state, "self_collision")
        column.prop(state, "collision_friction")
        row = layout.row(align=True)
        row.operator("jounce.ground", icon="MESH_PLANE")
        row.operator("jounce.collider_add", icon="ADD")
        layout.operator("jounce.bone_capsules", icon="BONE_DATA")
        layout.prop(context.window_manager.jounce, "show_colliders")
        layout.prop(context.window_manager.jounce, "show_penetration")
        draw_colliders(column, host)
        others = companions.of(host)
        if others:
            said(column, context, companions.sentence(host, others))
