"""The Jounce tab of the 3D viewport's sidebar."""

import bpy

from ..bridge import bodies, maps
from ..core.maps import Kind


class SidebarPanel:
    """Where all of these panels are."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Jounce"


class BodyPanel(SidebarPanel):
    """A panel for the body of the active object, below the main one."""

    bl_parent_id = "JOUNCE_PT_main"

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Shown for objects with Jounce."""
        return context.object is not None and bodies.host_of(context.object) is not None

    def layout_and_state(
        self, context: bpy.types.Context
    ) -> tuple[bpy.types.UILayout, bpy.types.PropertyGroup]:
        """A layout with split labels, and the settings of the body."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = False
        return self.layout, bodies.host_of(context.object).jounce


class JOUNCE_PT_main(SidebarPanel, bpy.types.Panel):
    """Add or remove Jounce"""

    bl_label = "Jounce"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the button that applies to the active object."""
        layout = self.layout
        if context.object is None or context.object.type != "MESH":
            layout.label(text="Select a mesh", icon="INFO")
            return
        host = bodies.host_of(context.object)
        if host is None:
            layout.operator("jounce.add", icon="ADD")
            return
        if host != context.object:
            layout.label(text=f"Part of {host.name}", icon="LINKED")
        layout.operator("jounce.remove", icon="X")


class JOUNCE_PT_build(BodyPanel, bpy.types.Panel):
    """The model of the body"""

    bl_label = "Body"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows what the model depends on."""
        layout, state = self.layout_and_state(context)
        layout.prop(state, "resolution")
        layout.prop(state, "modes")
        layout.prop(state, "clusters")
        layout.prop(state, "poisson")
        layout.prop(state, "bones_counting")
        if state.bones_counting == "PICKED":
            layout.prop(state, "bones_collection", icon="GROUP_BONE")
        layout.operator("jounce.build", icon="MOD_BUILD")
        if state.built_summary:
            layout.label(text=state.built_summary)


class JOUNCE_PT_maps(BodyPanel, bpy.types.Panel):
    """Where the flesh differs"""

    bl_label = "Maps"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: bpy.types.Context) -> None:
        """Shows the vertex group of each map, and how to make it."""
        layout, state = self.layout_and_state(context)
        for kind, (setting, _, _) in maps.SETTINGS.items():
            row = layout.row(align=True)
            row.prop_search(state, setting, context.object, "vertex_groups")
            for operator, icon in (
                ("add", "ADD"),
                ("from_selection", "VERTEXSEL"),
                ("from_bones", "BONE_DATA"),
            ):
                row.operator(f"jounce.map_{operator}", text="", icon=icon).kind = kind.value
            if kind is Kind.STIFFNESS and state.stiffness_group:
                column = layout.column(align=True)
                column.prop(state, "stiffness_soft")
                column.prop(state, "stiffness_stiff")
            if kind is Kind.LEAK and state.leak_group:
                layout.label(text="Only differences within a bone's region act", icon="INFO")


class JOUNCE_PT_motion(BodyPanel, bpy.types.Panel):
    """How the flesh moves"""

    bl_label = "Motion"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows what the motion depends on."""
        layout, state = self.layout_and_state(context)
        layout.prop(state, "frequency")
        layout.prop(state, "damping")
        layout.prop(state, "strength")
        layout.prop(state, "pose_rest")
        layout.prop(state, "substeps")
        layout.prop(state, "integrator")
        row = layout.row(heading="Gravity")
        row.prop(state, "use_gravity", text="")
        strength = row.row()
        strength.active = state.use_gravity
        strength.prop(state, "gravity", text="")


class JOUNCE_PT_bake(BodyPanel, bpy.types.Panel):
    """The baked motion"""

    bl_label = "Bake"

    def draw(self, context: bpy.types.Context) -> None:
        """Shows how and to what the motion is baked."""
        layout, state = self.layout_and_state(context)
        layout.prop(state, "target")
        if state.target == "MODAL_KEYS":
            layout.prop(state, "tolerance")
            layout.prop(state, "max_keys")
        layout.prop(state, "pre_roll")
        row = layout.row(align=True)
        row.operator("jounce.bake", icon="RENDER_ANIMATION")
        row.operator("jounce.free_bake", icon="TRASH", text="")
        if state.bake_keys:
            layout.label(text=f"{state.bake_keys} keys, error {state.bake_error:.3%} of the size")


CLASSES = (JOUNCE_PT_main, JOUNCE_PT_build, JOUNCE_PT_maps, JOUNCE_PT_motion, JOUNCE_PT_bake)
