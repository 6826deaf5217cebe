"""Which settings take keys: those that each frame reads anew. All others hold for the whole shot."""

from inspect import get_annotations

from ..bridge.inputs import animated_settings

ANIMATED = animated_settings.ANIMATED | {
    "animated",
    "closed",
    "contraction",
    "cut",
    "field_weight",
    "inflation",
    "push",
    "strength",
}


def keyed_where_read(settings: type) -> type:
    """Refuses keys on all settings of a class, and of those it is put together from, but these."""
    for cls in settings.__mro__:
        for name, setting in get_annotations(cls).items():
            if name not in ANIMATED:
                setting.keywords.setdefault("options", set())
    return settings
