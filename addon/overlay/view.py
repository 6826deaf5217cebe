"""Drawings of the viewports for the active body, and their handlers."""

from collections.abc import Callable

import bpy
import jounce
from bpy.app.handlers import persistent

from ..bridge.body import bodies
from ..bridge.preview import previews
from ..core.body import built_bodies
from ..core.body.attached import AttachedBody
from ..core.body.full_space import DraftError
from ..core.body.muscles import Muscles
from ..core.common.user_error import UserError
from ..core.display import modes
from ..core.display.fields import Field
from . import colliders, legend, seams, spectrum
from .lattice import Lattice
from .picture import Picture

_handlers: list[object] = []
_kept: dict[str, tuple[tuple, object]] = {}


def sync(wanted: bool) -> None:
    """Adds the handlers, or removes them and forgets their drawings."""
    if wanted and not _handlers:
        add = bpy.types.SpaceView3D.draw_handler_add
        _handlers.append(add(draw_surfaces, (), "WINDOW", "POST_VIEW"))
        _handlers.append(add(draw_legend, (), "WINDOW", "POST_PIXEL"))
        bpy.app.handlers.load_post.append(after_loading)
    elif not wanted and _handlers:
        for handler in _handlers:
            bpy.types.SpaceView3D.draw_handler_remove(handler, "WINDOW")
        _handlers.clear()
        bpy.app.handlers.load_post.remove(after_loading)
        _kept.clear()


def redraw(context: bpy.types.Context) -> None:
    """Draws all 3D viewports anew."""
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


@persistent
def after_loading(*_: object) -> None:
    """An opened file has other meshes, and starts without drawings."""
    sync(bpy.context.window_manager.jounce.draws_something)
    _kept.clear()


def kept(kind: str, key: tuple, make: Callable[[], object]) -> object:
    """The latest object of a kind of drawing, made again for another key."""
    if kind not in _kept or _kept[kind][0] != key:
        _kept[kind] = (key, make())
    return _kept[kind][1]


def active_body(
    context: bpy.types.Context,
) -> tuple[bpy.types.Object | None, "jounce.Body | None"]:
    """The host of the active object's body, and the body if in memory."""
    obj = context.view_layer.objects.active
    host = bodies.host_of(obj) if obj is not None else None
    return host, None if host is None else built_bodies.CACHE.get(host.jounce.built_digest)


def draw_surfaces() -> None:
    """Draws colours and lines into the scene."""
    context = bpy.context
    host, body = active_body(context)
    settings = context.window_manager.jounce
    if host is not None and settings.show_seams and context.space_data.overlay.show_overlays:
        seams.draw(host, context)
    if host is not None and settings.show_colliders and context.space_data.overlay.show_overlays:
        colliders.draw(host, context)
    if body is None or not context.space_data.overlay.show_overlays:
        return
    # Updated modes and a new build have the same digest.
    key = (host.session_uid, host.jounce.built_digest, body.residual)
    field = Field(settings.field)
    if field is not Field.NONE:
        state = host.jounce
        motion = (state.frequency, state.frequency_of, state.softness) if field is Field.STIFFNESS else None
        mode = host.jounce.mode_index if field is Field.WEIGHTS else 0
        seen = of_preview(host, field)
        # A part of the artist's may have been painted before a change of the mode.
        part = (*(each.name for each in state.shown_parts()), context.mode) if field is Field.PART else ()
        look = (*key, field, mode, part, motion, *seen)
        picture = kept("picture", look, lambda: Picture(host, body, field, mode, *seen))
        picture.draw(context, settings.opacity)
    lines = settings.cage, settings.embedding, settings.samples
    if any(lines) and not isinstance(body, AttachedBody):
        learnt = (*key, host.jounce.learnt_digest)
        lattice = kept("lattice", learnt, lambda: read_lattice(host, body, context))
        if lattice is not None:
            lattice.draw(context, *lines)


def of_preview(host: bpy.types.Object, field: Field) -> tuple[DraftError | None, Muscles | None]:
    """Draft error and muscles of a previewed body, if displayed."""
    known = previews.session(host)
    final, made = (None, None) if known is None else (known.final, known.motions)
    error = None if final is None or field is not Field.DRAFT_ERROR else final.error
    return error, None if made is None or field is not Field.MUSCLE else made.scene.muscles


def read_lattice(host: bpy.types.Object, body: "jounce.Body", context: bpy.types.Context) -> Lattice | None:
    """The lines of a body, None if the body cannot be read at present."""
    try:
        return Lattice(host, body, context)
    except UserError:
        return None


def draw_legend() -> None:
    """Draws the scale, or says why there are no colours."""
    context = bpy.context
    host, body = active_body(context)
    settings = context.window_manager.jounce
    if host is None or not context.space_data.overlay.show_overlays:
        return
    note = "" if body is not None else f"{host.name} is not in memory: press Build"
    _, picture = _kept.get("picture", (None, None))
    shown = body is not None and Field(settings.field) is not Field.NONE and picture is not None
    if settings.spectrum and host.jounce.is_flesh and body is not None:
        inertia = kept("moments", (host.jounce.built_digest, body.residual), lambda: modes.moments(body))
        spectrum.draw(context, host, inertia)
    tools = [region.width for region in context.area.regions if region.type == "TOOLS"]
    legend.draw(context.region, max(tools, default=0), picture.scale if shown else None, note)
