"""Jounce: flesh for rigged characters; the native module `jounce` computes, this package reads and bakes."""

from importlib.util import find_spec

if find_spec("numpy") is None:
    raise ModuleNotFoundError(
        "Jounce needs numpy, which the Python of this Blender lacks. On Debian and Ubuntu, install the "
        "package python3-numpy, start Blender again and enable Jounce in the preferences. Blender from "
        "blender.org contains numpy."
    )

from . import registration


def register() -> None:
    """Called by Blender when the extension is enabled."""
    registration.register()


def unregister() -> None:
    """Called by Blender when the extension is disabled."""
    registration.unregister()
