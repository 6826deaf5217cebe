"""Settings editable in a library override."""

from inspect import get_annotations

import bpy

CHANGES = {"LIBRARY_OVERRIDABLE"}
GROWS = {"LIBRARY_OVERRIDABLE", "USE_INSERTION"}


def overridable(settings: type) -> type:
    """Makes each setting of a class and its bases overridable."""
    for cls in settings.__mro__:
        for setting in get_annotations(cls).values():
            is_list = setting.function is bpy.props.CollectionProperty
            setting.keywords.setdefault("override", GROWS if is_list else CHANGES)
    return settings
