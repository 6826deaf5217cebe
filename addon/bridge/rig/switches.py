"""The switches of modifiers and shape keys, which may be keyed and driven during the shot."""

import bpy

from ..keys import animation


def takes_part(modifier: bpy.types.Modifier) -> bool:
    """True if a modifier is on in some frame."""
    return modifier.show_viewport or is_animated(modifier, "show_viewport")


def goes_on(modifier: bpy.types.Modifier) -> bool:
    """True if a modifier continues from the frame before, like physics, which makes frames dependent."""
    return hasattr(modifier, "point_cache")


def counts(key: bpy.types.ShapeKey) -> bool:
    """True if a shape key is not muted in some frame."""
    return not key.mute or is_animated(key, "mute")


def is_animated(owner: bpy.types.Modifier | bpy.types.ShapeKey, setting: str = "") -> bool:
    """True if keys, strips or drivers move a setting of a modifier or a shape key; any without a name."""
    beginning = f"{owner.path_from_id()}.{setting}"
    return any(path.startswith(beginning) for path in animation.paths(owner.id_data.animation_data))
