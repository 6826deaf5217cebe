"""Animatable settings: those read in every frame. All others hold for the whole shot."""

from inspect import get_annotations

from ..bridge.loads import animated_settings

ANIMATED = animated_settings.ANIMATED | {
    "animated",
    "closed",
    "contraction",
    "cut",
    "exaggerate",
    "field_weight",
    "follow_through",
    "inflation",
    "lag",
    "push",
    "strength",
}


def keyed_where_read(settings: type) -> type:
    """Disables keys on all settings of a class and its bases, except these."""
    for cls in settings.__mro__:
        for name, setting in get_annotations(cls).items():
            if name not in ANIMATED:
                setting.keywords.setdefault("options", set())
    return settings
