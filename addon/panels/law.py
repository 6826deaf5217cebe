"""The law of the final flesh, and the drawn law: the curve, and the resulting stress."""

import bpy
import bpy.utils.previews
import numpy as np

from ..bridge.body import law_curves
from ..core.common.user_error import UserError
from ..core.flesh import drawn_law, stress_picture
from ..core.flesh.laws import pulled
from ..core.flesh.settings import Flesh, Law
from .sidebar import said

# Height of the picture, in units of a button's height.
HEIGHT = 7.0
# Stretches with a listed stress.
TOLD = (0.5, 0.75, 1.25, 1.5, 2.0)
FOREIGN = "This curve is of another file; Straighten makes one that can be drawn here."

_pictures: list[bpy.utils.previews.ImagePreviewCollection] = []
# By the full name of a body's host: windows may show several bodies at once.
_drawn: dict[str, Flesh] = {}


def unregister() -> None:
    """Lets go of the pictures."""
    _drawn.clear()
    while _pictures:
        bpy.utils.previews.remove(_pictures.pop())


def draw_law(layout: bpy.types.UILayout, state: bpy.types.PropertyGroup, context: bpy.types.Context) -> None:
    """Shows the law and, for a drawn law, the curve with the stress of pulled flesh."""
    layout.prop(state, "law")
    layout.prop(state, "hardening")
    if Law(state.law) is not Law.CURVE:
        return
    holder = law_curves.node(state.law_curve)
    column = layout.column()
    if holder is not None and holder.id_data.library is None:
        column.template_curve_mapping(holder, "mapping")
    elif holder is not None:
        said(column, context, FOREIGN)
    shapes = column.row(align=True)
    shapes.operator("jounce.law_straighten", icon="IPO_LINEAR")
    shapes.operator_menu_enum("jounce.law_spline", "side", icon="IPO_CUBIC")
    flesh = state.flesh()
    try:
        told = pulled(flesh, np.array(TOLD))
        icon = picture_of(flesh, state.id_data.name_full)
    except UserError as refusal:
        said(column, context, str(refusal))
        return
    column.template_icon(icon, scale=HEIGHT)
    draw_numbers(column, told, state.young_at_rest())


def draw_numbers(layout: bpy.types.UILayout, told: np.ndarray, young: float | None) -> None:
    """Shows the stiffness at rest and the stress at a few stretches. young: None if unknown."""
    box = layout.box().column(align=True)
    named = [("Young's Modulus", 1.0), *zip(map("Stretch {:g}".format, TOLD), told, strict=True)]
    for name, share in named:
        row = box.split(factor=0.6)
        row.label(text=name)
        row.label(text=f"{share:.3g} E" if young is None else in_pascal(share * young))


def in_pascal(stress: float) -> str:
    """A stress in Pa in the unit that keeps three digits short."""
    units = (("GPa", 1e9), ("MPa", 1e6), ("kPa", 1e3), ("Pa", 1.0))
    unit, size = next((pair for pair in units if abs(stress) >= 0.9995 * pair[1]), units[-1])
    return f"{stress / size:.3g} {unit}"


def picture_of(flesh: Flesh, name: str) -> int:
    """The number of an icon with the stress of pulled flesh. name: of the body."""
    if not _pictures:
        _pictures.append(bpy.utils.previews.new())
    known = _pictures[0].get(name) or _pictures[0].new(name)
    if _drawn.get(name) != flesh:
        stretches = np.linspace(drawn_law.LEAST, drawn_law.MOST, stress_picture.SIZE)
        pixels = stress_picture.picture(pulled(flesh, stretches), stretches - 1.0)
        known.image_size = stress_picture.SIZE, stress_picture.SIZE
        known.image_pixels_float.foreach_set(pixels.ravel())
        _drawn[name] = flesh
    return known.icon_id
