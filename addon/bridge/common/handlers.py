"""Adds functions to Blender's handler lists, removes them, and recognises handlers of other add-ons."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import bpy

Handler = Callable[..., None]

# Handler lists of an evaluation, new frames first.
FRAME_CHANGE = ("frame_change_pre", "frame_change_post")
EVALUATION = (*FRAME_CHANGE, "depsgraph_update_pre", "depsgraph_update_post")
# The package of the extension.
OWN = __name__.partition(".bridge.")[0]


def listen(functions: dict[str, Handler], wanted: bool) -> None:
    """Adds or removes handlers by kind, without duplicates."""
    for kind, handler in functions.items():
        handlers = getattr(bpy.app.handlers, kind)
        if wanted and handler not in handlers:
            handlers.append(handler)
        elif not wanted and handler in handlers:
            handlers.remove(handler)


def call_last(kind: str, handler: Handler) -> None:
    """Moves a handler of Jounce to the end of the list; not during a call of the list."""
    handlers = getattr(bpy.app.handlers, kind)
    if handler in handlers and handlers[-1] != handler:
        handlers.remove(handler)
        handlers.append(handler)


def foreign() -> list[str]:
    """Add-ons and scripts with handlers for new frames, each once."""
    called = (handler for kind in FRAME_CHANGE for handler in getattr(bpy.app.handlers, kind))
    return list(dict.fromkeys(owner(module_of(handler)) for handler in called if not is_own(handler)))


def module_of(handler: Handler) -> str:
    """The module of a function, or of a callable object in its place."""
    return getattr(handler, "__module__", None) or type(handler).__module__


def is_own(handler: Handler) -> bool:
    """True for a function of the extension."""
    return f"{module_of(handler)}.".startswith(f"{OWN}.")


def owner(module: str) -> str:
    """The name of a module's add-on."""
    parts = module.split(".")
    if parts[0] == "__main__":
        return "a script"
    # bl_ext.repository.name
    return parts[2] if parts[0] == "bl_ext" and len(parts) > 2 else parts[0]


@contextmanager
def silenced() -> Iterator[None]:
    """Disables all handlers during the evaluation of a scene other than the artist's.

    Restores the order of the lists afterwards, followed by handlers added meanwhile.
    """
    lists = [getattr(bpy.app.handlers, kind) for kind in EVALUATION]
    kept = [list(handlers) for handlers in lists]
    for handlers in lists:
        handlers.clear()
    try:
        yield
    finally:
        for handlers, before in zip(lists, kept, strict=True):
            handlers[:] = [*before, *(handler for handler in handlers if handler not in before)]
