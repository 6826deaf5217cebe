"""Adds functions to the lists that Blender calls, and takes them away."""

from collections.abc import Callable

import bpy


def listen(functions: dict[str, Callable[..., None]], wanted: bool) -> None:
    """Adds handlers by kind, or takes them away; none is there twice."""
    for kind, handler in functions.items():
        handlers = getattr(bpy.app.handlers, kind)
        if wanted and handler not in handlers:
            handlers.append(handler)
        elif not wanted and handler in handlers:
            handlers.remove(handler)
