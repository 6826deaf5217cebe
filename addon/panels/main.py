"""Adds Jounce to an object, and the common settings of its body."""

import bpy

from ..bridge.body import bodies, overrides
from ..bridge.common import progress
from ..bridge.common.words import worded
from ..bridge.preview import previews, sculpting
from ..bridge.rig import modifier_stack
from . import diagnosis, direct, part_list, sidebar
from .sidebar import SidebarPanel

# Heights of the large buttons and of the preset's picture, in buttons.
LARGE, PICTURE = 1.5, 3.2


class JOUNCE_PT_main(SidebarPanel, bpy.types.Panel):
    """Add Jounce; then preview, amount, softness, parts and bake"""

    bl_label = "Jounce"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Shown everywhere in the sidebar, in the Physics tab for meshes alone."""
        return cls.bl_space_type == "VIEW_3D" or context.object.type == "MESH"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the button for the active object, or the common settings of its body."""
        layout, obj = self.layout, context.object
        linked = None if obj is None else overrides.linked_of(obj, context.scene)
        if linked is not None:
            if overrides.stands_still(linked):
                sidebar.wrapped(layout, context, text="Linked: its flesh stands still", icon="ERROR")
            else:
                sidebar.wrapped(layout, context, text="Linked from another file", icon="LINKED")
            layout.operator("jounce.override", icon="LIBRARY_DATA_OVERRIDE")
            return
        if sculpting.is_copy(obj):
            direct.draw_copy(layout)
            return
        if obj is None or obj.type not in ("MESH", "ARMATURE"):
            sidebar.wrapped(layout, context, text="Select a mesh or an armature", icon="INFO")
            if bpy.ops.jounce.asset_library.poll():
                layout.operator("jounce.asset_library", icon="ASSET_MANAGER")
            return
        host = bodies.host_of(obj)
        if host is None:
            add = layout.column()
            add.scale_y = LARGE
            add.operator("jounce.setup", icon="ADD")
            if bpy.ops.jounce.body_add.poll():
                layout.operator("jounce.body_add", icon="ADD")
            return
        if host != obj:
            is_rig = obj.type == "ARMATURE"
            text = worded("Moves {name}" if is_rig else "Part of {name}", name=host.name)
            sidebar.wrapped(layout, context, text=text, translate=False, icon="LINKED")
        if progress.now() is not None and not host.jounce.built_digest:
            draw_progress(layout)
            return
        draw_switch(layout, host, context)
        draw_flesh(layout, host.jounce)
        part_list.draw_parts(layout, host)
        draw_bake(layout)


def draw_switch(layout: bpy.types.UILayout, host: bpy.types.Object, context: bpy.types.Context) -> None:
    """Shows the switch between the pose and its flesh, the line of the preview or of the bake, and the number
    of findings. A bake plays by itself, without the switch.
    """
    row = layout.row(align=True)
    row.scale_y = LARGE
    shown, is_baked = host.jounce.preview, any(map(modifier_stack.is_baked, bodies.members(host)))
    row.enabled = not is_baked
    is_pose = not (shown or is_baked)
    row.operator("jounce.preview", text="Pose", icon="ARMATURE_DATA", depress=is_pose).show = "POSE"
    row.operator("jounce.preview", text="Flesh", icon="MOD_SOFT", depress=shown).show = "FLESH"
    known = previews.session(host)
    if is_baked:
        first, last = host.jounce.bake_range
        text = worded("Baked, frames {first} to {last}. Free Bake to change it", first=first, last=last)
        sidebar.wrapped(layout, context, text=text, translate=False, icon="CHECKMARK")
    elif known is not None:
        sidebar.wrapped(layout, context, text=known.status(), translate=False)
    diagnosis.draw_count(layout, host)


def draw_flesh(layout: bpy.types.UILayout, state: bpy.types.PropertyGroup) -> None:
    """Shows the preset with its picture beside amount and softness, which act at once."""
    if not state.is_flesh:
        column = layout.column(align=True)
        if not state.is_loose:
            column.prop(state, "strength", slider=True)
        column.prop(state, "softness", slider=True)
        if state.is_pinned:
            layout.operator("jounce.wind", icon="FORCE_WIND")
        return
    split = layout.split(factor=0.3)
    split.template_icon_view(state, "preset", show_labels=True, scale=PICTURE, scale_popup=5.0)
    column = split.column()
    column.prop(state, "preset", text="")
    sliders = column.column(align=True)
    sliders.prop(state, "strength", slider=True)
    sliders.prop(state, "softness", slider=True)


def draw_bake(layout: bpy.types.UILayout) -> None:
    """Shows the button that bakes, and the one that takes the bake off; during work, its progress."""
    if progress.now() is not None:
        draw_progress(layout)
        return
    row = layout.row(align=True)
    row.scale_y = LARGE
    row.operator("jounce.bake", icon="RENDER_ANIMATION")
    row.operator("jounce.free_bake", icon="TRASH", text="")


def draw_progress(layout: bpy.types.UILayout) -> None:
    """Shows the progress of the working operator."""
    share = progress.now()
    row = layout.row()
    row.scale_y = LARGE
    row.progress(factor=share, text=worded("{share}, Esc stops", share=f"{share:.0%}"))
