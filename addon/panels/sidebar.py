"""Place of Jounce's panels: a tab of the 3D viewport's sidebar."""

import blf
import bpy

from ..bridge.body import bodies
from ..core.common import text_lines
from ..core.flesh.settings import BodyKind

# Height of a button at a scale of 1, in pixels; as multiples of this, the width of a panel's frame and tabs,
# of an icon, and the smallest width for text.
UNIT, MARGINS, ICON, NARROWEST = 20.0, 3.2, 1.0, 4.0


class SidebarPanel:
    """Common place of these panels."""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Jounce"


class BodyPanel(SidebarPanel):
    """A panel for the body of the active object, closed below More."""

    bl_parent_id = "JOUNCE_PT_more"
    bl_options = {"DEFAULT_CLOSED"}
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
    return wrapped(layout.box(), context, text=sentence, icon="INFO")


def wrapped(
    layout: bpy.types.UILayout,
    context: bpy.types.Context,
    *,
    text: str,
    icon: str = "NONE",
    translate: bool = True,
) -> bpy.types.UILayout:
    """A column with a text wrapped at the panel's width, under one icon."""
    column = layout.column(align=True)
    text = bpy.app.translations.pgettext_iface(text) if translate else text
    spared = MARGINS + (0.0 if icon == "NONE" else ICON)
    scale = context.preferences.system.ui_scale
    blf.size(0, bpy.context.preferences.ui_styles[0].widget.points * scale)
    width = max(NARROWEST * UNIT * scale, context.region.width - spared * UNIT * scale)
    for line, part in enumerate(text_lines.lines(text, width, lambda part: blf.dimensions(0, part)[0])):
        column.label(text=part, icon="BLANK1" if line and icon != "NONE" else icon, translate=False)
    return column
