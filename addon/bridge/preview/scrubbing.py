"""A displacement shown by hand on a body, until it is zero again or anything else happens in the file.

Nothing of it gets into a file or an undo step that can be returned to: saving, undo and a new frame end it.
"""

from collections.abc import Callable

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ...core.common.user_error import UserError
from ..body import bodies
from ..common import handlers
from . import previews
from .temporary_display import Shown

# Seconds after which a panel that is no longer drawn ends the display.
UNSEEN_SECONDS = 0.5

_shown: Shown | None = None
_host: bpy.types.Object | None = None
_around: tuple[object, ...] = ()
_is_seen = False
# Reason why nothing is shown; empty without one.
trouble = ""


def show(host: bpy.types.Object, context: bpy.types.Context, offsets: Callable[[], np.ndarray]) -> None:
    """Shows offsets (p, 3) f32 in metres on a body, or says in `trouble` why not."""
    global _shown, _host, _around, _is_seen, trouble
    if _shown is not None and _host != host:
        end()
    trouble = ""
    try:
        displacement = offsets()
        if _shown is None:
            previews.refuse_unusable(host)
            editing = next((obj for obj in bodies.fleshed(host) if obj.mode == "EDIT"), None)
            if editing is not None:
                raise UserError(f"{editing.name} is in Edit Mode; leave it to see a mode.")
            _shown, _host = Shown(host, context.scene), host
            _around, _is_seen = surroundings(), True
            handlers.listen(HANDLERS, True)
            if not bpy.app.background:
                bpy.app.timers.register(watch, first_interval=UNSEEN_SECONDS)
    except UserError as refusal:
        trouble = str(refusal)
        reset()
        return
    _shown.write(displacement)


def end() -> None:
    """Restores the display from before; the slider returns to zero."""
    global _shown, _host
    reset()
    if _shown is None:
        return
    handlers.listen(HANDLERS, False)
    closing, _shown, _host = _shown, None, None
    closing.close()
    previews.sync()
    previews.redraw(True)


def is_on() -> bool:
    """True while a displacement is shown."""
    return _shown is not None


def seen() -> None:
    """Notes that the panel with the slider is drawn."""
    global _is_seen
    _is_seen = True


def reset() -> None:
    """Sets the slider to zero, without an update."""
    for manager in bpy.data.window_managers:
        manager.jounce.property_unset("scrub")


def watch() -> float | None:
    """Timer: ends the display once the panel with the slider is closed or out of sight."""
    global _is_seen
    if _shown is None:
        return None
    if not _is_seen:
        end()
        return None
    _is_seen = False
    for kind in ("VIEW_3D", "PROPERTIES"):
        for area in previews.areas(kind):
            area.tag_redraw()
    return UNSEEN_SECONDS


def surroundings() -> tuple[object, ...]:
    """All that stays the same while only the slider is moved."""
    active = bpy.context.view_layer.objects.active
    return active, None if active is None else active.mode, len(bpy.data.objects), bpy.context.scene


@persistent
def before_other(*_: object) -> None:
    """A new frame, saving, undo or another file."""
    end()


@persistent
def after_change(*_: object) -> None:
    """Another active object, mode, scene, or number of objects."""
    if surroundings() != _around:
        end()


ENDING = ("frame_change_pre", "save_pre", "undo_pre", "redo_pre", "load_pre", "render_init")
HANDLERS = {kind: before_other for kind in ENDING} | {"depsgraph_update_post": after_change}
