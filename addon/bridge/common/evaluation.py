"""The evaluated scene, also where a handler asks for it."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

_handed: list[bpy.types.Depsgraph] = []


def depsgraph(context: bpy.types.Context) -> bpy.types.Depsgraph:
    """The evaluated depsgraph of a context, or the one that the handler which runs was called with."""
    return _handed[-1] if _handed else context.evaluated_depsgraph_get()


@contextmanager
def handed(given: bpy.types.Depsgraph) -> Iterator[None]:
    """While a handler runs that Blender calls within an evaluation with this depsgraph.

    To ask the context for one there, once something is tagged, is to evaluate within an evaluation: the
    evaluated view layer stays without its bases, and Blender crashes as soon as an object is tagged.
    """
    _handed.append(given)
    try:
        yield
    finally:
        _handed.pop()
