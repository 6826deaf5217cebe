"""Pictures of presets as Blender's icons, drawn from their settings."""

import bpy
import bpy.utils.previews

from ...core.common.preset_values import Value
from ...core.flesh.preset_picture import SIZE, picture

_pictures: list[bpy.utils.previews.ImagePreviewCollection] = []
_drawn: dict[str, dict[str, Value]] = {}


def icon(name: str, known: dict[str, Value]) -> int:
    """The number of an icon for the settings of a body's preset, drawn again once they change."""
    if not _pictures:
        _pictures.append(bpy.utils.previews.new())
    kept = _pictures[0].get(name) or _pictures[0].new(name)
    if _drawn.get(name) != known:
        kept.image_size = SIZE, SIZE
        is_calm = known["integrator"] == "backward_euler"
        pixels = picture(known["softness"], known["strength"], known["damping"], is_calm)
        kept.image_pixels_float.foreach_set(pixels.ravel())
        _drawn[name] = known
    return kept.icon_id


def unregister() -> None:
    """Lets go of the pictures."""
    _drawn.clear()
    while _pictures:
        bpy.utils.previews.remove(_pictures.pop())
