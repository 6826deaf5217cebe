"""Fills the cache of a loose body: it starts where its object stands, and goes on by itself when let go.

The meshes stay with their object, which may move on its own, so what is kept is how far the body is from
there. With the object's transform T from where the body was built, the place `X + u` of a point is shown by
the displacement `u - (T - 1) X` from `T X`; handles about c_j make every affine motion exactly, so the
coefficients of what is subtracted are `[A | A c_j + b]` for `(T - 1) X = A X + b`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import takewhile

import jounce
import numpy as np

from .cache import MotionCache
from .colliders import Colliders, polar
from .loose import LooseBody
from .motion import FrameInput, Schedule, Target
from .settings import LooseMotion
from .simulation_pass import SimulationPass, Start
from .user_error import UserError

# Share of its size by which the object may have been scaled since the body was built: rounding does so much.
RIGID = 1e-4
# How firmly a body is held that goes along with its object, Hz: it is there, whatever its substeps.
FIRM = 1e5
# How firmly it is drawn while it is caught: after half of the duration two thirds of the way are left, and
# in the frame before its end a fortieth at most.
DRAWN = 6.0


@dataclass(frozen=True)
class Throw:
    """How a body is thrown and caught. seconds: of a frame. name: of the body."""

    settings: LooseMotion
    seconds: float
    name: str

    def hold(self, drives: list[FrameInput]) -> float:
        """How firmly the body is held in the step to the last of these frames, Hz; 0 where it is let go.

        Where its object catches it the frequency rises from 0 beyond all bounds, so that position, velocity
        and shape go on from what they are: `w = 6 s / (T (1 - s))` at a share s of the duration T.
        """
        held = list(takewhile(lambda drive: drive.animated, reversed(drives)))
        if len(held) == len(drives) or any(drive.cut for drive in held):
            return FIRM if held else 0.0
        duration, since = self.settings.catch, len(held) * self.seconds
        if since >= duration:
            return FIRM if held else 0.0
        return min(FIRM, DRAWN * since / (duration - since) / (2.0 * np.pi * duration))


class LoosePass(SimulationPass):
    """A pass over the frames of a loose body."""

    follows_hand = False

    def __init__(
        self,
        cache: MotionCache,
        start: Start,
        throw: Throw,
        body: LooseBody,
        colliders: Colliders | None,
    ) -> None:
        """throw: how it starts, and comes back. The rest is that of any pass."""
        super().__init__(cache, start, Schedule(), colliders)
        self._throw = throw
        self._centers = np.asarray(body.model.handle_centers)

    def _felt(self, drive: FrameInput) -> FrameInput:
        return drive.of_handles()

    def _play(self, target: Target, indices: Iterable[int]) -> None:
        for index in indices:
            drive = self.prepare(target, index)
            if self.starts(index):
                self.start_anew(target, drive, index)
            else:
                target.step(drive.pose, drive.force, None, drive.drag, drive.colliders)

    def own_digest(self) -> bytes:
        """What the last drive says of this body alone."""
        return replace(self.felt(self.drives[-1]), touching=()).digest()

    def starts(self, index: int) -> bool:
        """Whether the body starts in a frame, for the first time or again."""
        return index == 0 or self.drives[index].cut

    def prepare(self, target: Target, index: int) -> FrameInput:
        """Gives a target all of a frame but the step to it; what drives that."""
        drive = self._native(index)
        if drive.held:
            raise UserError(f"In frame {self.cache.first + index} {drive.held}.")
        drive.set_up(target)
        self._vary(target, index)
        if drive.animated and not self.starts(index):
            self._refuse_scaled(drive, index)
            before = self.drives[index - 1]
            if before.animated and self.starts(index - 1):
                # It is on its way already, as fast as it leaves.
                target.coast(drive.pose, colliders=drive.colliders)
        return drive

    def _vary(self, target: Target, index: int) -> None:
        """Inflates and holds a target as it is in a frame."""
        hold = self._throw.hold(self.drives[: index + 1])
        target.vary(inflation=self.drives[index].inflation, hold=hold)

    def start_anew(self, target: Target, drive: FrameInput, index: int) -> None:
        """Starts where the object stands."""
        turn = self._refuse_scaled(drive, index)
        target.reset(colliders=drive.colliders)
        settings = self._throw.settings
        target.place(np.column_stack([turn, drive.pose[0, :, 3]]), settings.velocity, settings.spin)

    def _refuse_scaled(self, drive: FrameInput, index: int) -> np.ndarray:
        """How the object is turned, which must be as large as it was."""
        turn, size = (each[0] for each in polar(drive.pose[:1]))
        if np.abs(size - np.eye(3)).max() > RIGID:
            raise UserError(
                f"{self._throw.name} has another size in frame {self.cache.first + index} than it was built "
                "with; build it again there."
            )
        return turn

    def simulation_at(self, index: int) -> "jounce.Simulation":
        """As of any pass, as far inflated and held as it is in the frame."""
        simulation = super().simulation_at(index)
        self._vary(simulation, index)
        return simulation

    def shown(self, pose: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """How far the body is from its object."""
        away = pose[0] - np.eye(3, 4)
        linear, shift = away[:, :3], away[:, 3]
        shifts = self._centers @ linear.T + shift
        return coefficients - np.concatenate(
            [np.tile(linear, (len(shifts), 1, 1)), shifts[:, :, None]], axis=2
        )
