"""Jounce: flesh for rigged characters; the native module `jounce` computes, this package reads and bakes."""

from . import registration


def register() -> None:
    """Called by Blender when the extension is enabled."""
    registration.register()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    registration.unregister()
