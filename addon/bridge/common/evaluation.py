"""Access to the evaluated scene, also inside handlers."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

_handed: list[bpy.types.Depsgraph] = []


def depsgraph(context: bpy.types.Context) -> bpy.types.Depsgraph:
    """The evaluated depsgraph of a context, or the argument of the running handler."""
    return _handed[-1] if _handed else context.evaluated_depsgraph_get()


@contextmanager
def handed(given: bpy.types.Depsgraph) -> Iterator[None]:
    """Context for a handler that Blender calls within an evaluation with this depsgraph.

    In such a handler, asking the context for a depsgraph after something was tagged nests an evaluation. The
    evaluated view layer then has no bases, and Blender crashes at the next tagged object.
    """
    _handed.append(given)
    try:
        yield
    finally:
        _handed.pop()
