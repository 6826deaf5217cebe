"""Jounce: flesh for rigged characters. The motion is computed by the native module `jounce`, baked to shape keys here."""

from . import registration


def register() -> None:
    """Called by Blender when the extension is enabled."""
    registration.register()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    registration.unregister()
