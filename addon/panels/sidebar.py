"""Place of Jounce's panels: a tab of the 3D viewport's sidebar."""

import textwrap

import bpy

from ..bridge.body import bodies
from ..core.settings import BodyKind

# Characters per line for each pixel of the panel's width at a scale of 1.
CHARACTERS_PER_PIXEL = 0.14


class SidebarPanel:
    """Common place of these panels."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Jounce"


class BodyPanel(SidebarPanel):
    """A panel for the body of the active object, below the main one."""

    bl_parent_id = "JOUNCE_PT_main"
    # Kinds of bodies that the panel applies to.
    kinds = frozenset(BodyKind)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Shown for objects with Jounce and a matching kind of body."""
        host = None if context.object is None else bodies.host_of(context.object)
        return host is not None and BodyKind(host.jounce.kind) in cls.kinds

    def layout_and_state(
        self, context: bpy.types.Context
    ) -> tuple[bpy.types.UILayout, bpy.types.PropertyGroup]:
        """A layout with split labels, and the settings of the body."""
        self.layout.use_property_split = True
        self.layout.use_property_decorate = self.bl_space_type == "PROPERTIES"
        return self.layout, bodies.host_of(context.object).jounce


def keyed(layout: bpy.types.UILayout) -> bpy.types.UILayout:
    """A layout for animatable settings, with their dots in the narrow sidebar too."""
    column = layout.column(align=True)
    column.use_property_decorate = True
    return column


def said(layout: bpy.types.UILayout, context: bpy.types.Context, sentence: str) -> bpy.types.UILayout:
    """A box with a sentence in as many lines as needed."""
    width = max(20, int(context.region.width / context.preferences.system.ui_scale * CHARACTERS_PER_PIXEL))
    box = layout.box().column(align=True)
    for line, text in enumerate(textwrap.wrap(sentence, width)):
        box.label(text=text, icon="INFO" if line == 0 else "BLANK1")
    return box
