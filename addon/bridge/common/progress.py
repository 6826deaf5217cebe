"""Progress of the operator that works in the window."""

import bpy

# Done share of the work in [0, 1]; None without such an operator.
_done: float | None = None


def now() -> float | None:
    """The done share of the work, in [0, 1]; None if nothing works."""
    return _done


def show(share: float | None, context: bpy.types.Context) -> None:
    """Sets the done share of the work, and draws the panels again; None at its end."""
    global _done
    _done = share
    if context.area is not None:
        context.area.tag_redraw()
