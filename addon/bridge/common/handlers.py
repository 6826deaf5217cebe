"""Adds functions to Blender's handler lists, and removes them."""

from collections.abc import Callable

import bpy


def listen(functions: dict[str, Callable[..., None]], wanted: bool) -> None:
    """Adds or removes handlers by kind, without duplicates."""
    for kind, handler in functions.items():
        handlers = getattr(bpy.app.handlers, kind)
        if wanted and handler not in handlers:
            handlers.append(handler)
        elif not wanted and handler in handlers:
            handlers.remove(handler)
