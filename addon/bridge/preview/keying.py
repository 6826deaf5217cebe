"""Keyed shapes of a previewed body: displayed or dragged by the artist."""

import bpy
import numpy as np

from ...core.body.full_space import shaped
from ...core.common.user_error import UserError
from ...core.direct.dragging import handful
from ..inputs import directions
from . import previews
from .picking import Hit
from .session import Session


def ready(host: bpy.types.Object, frame: int) -> Session:
    """The session of a body whose frame is simulated; refused otherwise."""
    known = previews.session(host)
    if known is None or known.filling is None:
        raise UserError(
            f"{host.name} is not previewed yet; switch its preview on and wait until it is ready."
        )
    index = frame - known.cache.first
    if not 0 <= index < known.filling.checked:
        raise UserError(f"{host.name} is not simulated in frame {frame} yet; key it once it is shown.")
    held = known.filling.drives[index].held
    if held:
        raise UserError(f"In frame {frame} {held}.")
    return known


def shown(known: Session, frame: int) -> np.ndarray:
    """Displayed displacements (p, 3) f32 of a frame in the world, metres."""
    coefficients, shaper = known.direction.best(frame - known.cache.first)
    return shaped(shaper, coefficients)


def keep(host: bpy.types.Object, frame: int, world: np.ndarray) -> bpy.types.PropertyGroup:
    """Keeps displacements (p, 3) as the key of a frame, in metres and in the world."""
    known = ready(host, frame)
    if not np.isfinite(world).all():
        raise UserError(
            f"The shape of {host.name} has vertices at infinite places, so it was not kept; make it again."
        )
    pose = known.filling.drives[frame - known.cache.first].pose
    offsets = known.direction.director().offsets_of(world, pose)
    key = directions.keep(host, frame, offsets, known.motions.scene.surface.diagonal)
    previews.direct(host)
    return key


class Drag:
    """A handful of flesh, dragged by the mouse in one frame. radius: as a share of the body's size."""

    def __init__(self, host: bpy.types.Object, radius: float) -> None:
        self.radius = radius
        self._host = host
        self._session: Session | None = None
        self._frame = 0
        self._hit: Hit | None = None
        self._before = np.zeros((0, 3))
        self.target = np.zeros(3)

    @property
    def holds(self) -> bool:
        """True while flesh is held."""
        return self._hit is not None

    def take(self, hit: Hit) -> None:
        """Takes hold of the flesh at a vertex; refuses vertices moved by the rig alone."""
        frame = bpy.context.scene.frame_current
        known = ready(self._host, frame)
        if known.direction.director().swings.flesh[hit.point] <= 0.0:
            raise UserError("The rig alone moves this place, so there is no flesh to drag; drag beside it.")
        self._session, self._frame, self._hit, self.target = known, frame, hit, hit.place
        self._before = shown(known, frame).astype(np.float64)

    def move(self) -> None:
        """Shows the flesh with the handful at the target."""
        known = self._session
        if not self.holds:
            return
        if not previews.is_shown(known) or known.scene.frame_current != self._frame:
            self.drop()
            return
        surface, flesh = known.motions.scene.surface, known.direction.director().swings.flesh
        share = handful(surface.points, self._hit.point, self.radius * surface.diagonal, flesh)
        world = self._before + share[:, np.newaxis] * (self.target - self._hit.place)
        known.direction.making = self._frame, world.astype(np.float32)
        previews.direct(self._host)

    def let_go(self) -> bpy.types.PropertyGroup | None:
        """Keeps the shape as the key of its frame; None if nothing was moved."""
        made = None if self._session is None else self._session.direction.making
        self.drop()
        return None if made is None else keep(self._host, *made)

    def drop(self) -> None:
        """Holds nothing any more, and shows the frame without what was dragged."""
        if self._session is not None and self._session.direction is not None:
            self._session.direction.making = None
        self._session = self._hit = None
        previews.direct(self._host)

    def string(self) -> np.ndarray | None:
        """The place where hold was taken and the target, (2, 3) in metres; None without a hold."""
        return None if self._hit is None else np.stack([self._hit.place, self.target])
