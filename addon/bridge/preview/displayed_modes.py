"""Modes and derivatives of the active body, shown on its meshes and measured."""

from collections.abc import Generator
from dataclasses import dataclass

import bpy
import jounce
import numpy as np

from ...core.body import built_bodies
from ...core.common.task import Step
from ...core.common.user_error import UserError
from ...core.display import modes
from ...core.display.modes import Family, Vibrations
from ..body import bodies
from . import previews, scrubbing, temporary_display


@dataclass(frozen=True)
class Measured:
    """A frame of a preview, simulated again.

    motion: Draft, Learnt or Final. report, seconds: of the step. model, cache: bytes of the simulated model
    and of the cached frames.
    """

    frame: int
    motion: str
    report: "jounce.StepReport"
    seconds: float
    model: int
    cache: int


# The last measurement of each body, by its session's host.
MEASURED: dict[int, Measured] = {}


def scrub(context: bpy.types.Context) -> None:
    """Shows the chosen shape on the active body as far as the slider says; at zero, ends the display."""
    settings = context.window_manager.jounce
    family, number, share = Family(settings.family), settings.number, settings.scrub
    active = context.view_layer.objects.active
    host = None if active is None else bodies.host_of(active)
    if host is None or share == 0.0:
        scrubbing.end()
        return

    def offsets() -> np.ndarray:
        body = temporary_display.body_of(host)
        diagonal = float(np.linalg.norm(np.ptp(body.embedding.points, axis=0)))
        return modes.swing(shape(host, body, family, number, context), diagonal, share)

    scrubbing.show(host, context, offsets)
    previews.redraw(True)


def shape(
    host: bpy.types.Object, body: "jounce.Body", family: Family, number: int, context: bpy.types.Context
) -> np.ndarray:
    """The chosen shape (p, 3) at the render vertices, longest displacement 1."""
    if family is Family.SKINNING:
        mode = min(host.jounce.mode_index, body.model.mode_count - 1)
        return modes.skinning_shape(body, mode, temporary_display.sideways(context))
    known = vibrations(host)
    if known is None:
        raise UserError(f"The linear modes of {host.name} are not computed; press Compute Linear Modes.")
    shapes = known.modes if family is Family.LINEAR else known.derivatives
    return modes.shape_of(body, shapes[min(number, len(shapes)) - 1])


def ratio(host: bpy.types.Object, family: Family, number: int) -> float:
    """Frequency of a shape as a multiple of the lowest mode's; 1 for derivatives. number: from 0."""
    known = vibrations(host)
    if family is Family.SKINNING:
        return host.jounce.modes_built[number].ratio
    is_mode = family is Family.LINEAR and known is not None and number < len(known.ratios)
    return float(known.ratios[number]) if is_mode else 1.0


def vibrations(host: bpy.types.Object) -> Vibrations | None:
    """The computed linear modes of a body, None before."""
    body = built_bodies.CACHE.get(host.jounce.built_digest)
    return None if body is None else modes.VIBRATIONS.get(modes.key(host.jounce.built_digest, body))


def compute(host: bpy.types.Object, context: bpy.types.Context) -> Generator[Step, None, Vibrations]:
    """Computes linear modes and derivatives of a built body."""
    body = temporary_display.body_of(host)
    # A preview may build the body anew meanwhile.
    key = modes.key(host.jounce.built_digest, body)
    scene = bodies.read(host, context, lambda _sentence: None)
    found = yield from modes.vibrations(body, scene.surface)
    modes.VIBRATIONS.put(key, found)
    return found


def measure(host: bpy.types.Object) -> Measured:
    """Simulates the shown frame of a previewed body again, with its present quality."""
    known = previews.session(host)
    behind = known.final
    filling = known.filling if behind is None else behind.filling
    if filling is None:
        raise UserError(f"{host.name} is not ready yet; wait for its preview.")
    frame = known.scene.frame_current
    index = frame - filling.cache.first
    if not 0 <= index < filling.checked:
        raise UserError(f"Frame {frame} of {host.name} is not cached; press Calculate.")
    report, seconds = filling.measured(index)
    owner = known.filling.owner if behind is None else behind.fine
    cached = sum(each.nbytes for each in filling.cache.coefficients[: filling.checked])
    name = "Draft" if behind is None else behind.name
    memory = len(owner.model.to_bytes())
    MEASURED[host.session_uid] = Measured(frame, name, report, seconds, memory, cached)
    return MEASURED[host.session_uid]
