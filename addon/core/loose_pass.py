"""Fills the cache of a loose body: it starts where its object stands, and then goes on by itself.

The meshes stay with their object, which may move on its own, so what is kept is how far the body is from
there. With the object's transform T from where the body was built, the place `X + u` of a point is shown by
the displacement `u - (T - 1) X` from `T X`; handles about c_j make every affine motion exactly, so the
coefficients of what is subtracted are `[A | A c_j + b]` for `(T - 1) X = A X + b`.
"""

from collections.abc import Iterable

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


class LoosePass(SimulationPass):
    """A pass over the frames of a loose body."""

    follows_hand = False

    def __init__(
        self,
        cache: MotionCache,
        start: Start,
        settings: LooseMotion,
        body: LooseBody,
        name: str,
        colliders: Colliders | None,
    ) -> None:
        """settings: how fast it starts. name: of the body. The rest is that of any pass."""
        super().__init__(cache, start, Schedule(), colliders)
        self._settings = settings
        self._centers = np.asarray(body.model.handle_centers)
        self._name = name

    def _felt(self, drive: FrameInput) -> FrameInput:
        return drive.of_handles()

    def _play(self, target: Target, indices: Iterable[int]) -> None:
        for index in indices:
            drive = self._native(index)
            if drive.held:
                raise UserError(f"In frame {self.cache.first + index} {drive.held}.")
            drive.set_up(target)
            if index == 0 or drive.cut:
                self._throw(target, drive, self.cache.first + index)
            else:
                target.step(colliders=drive.colliders)

    def _throw(self, target: Target, drive: FrameInput, frame: int) -> None:
        """Starts anew where the object stands."""
        turn, size = (each[0] for each in polar(drive.pose[:1]))
        if np.abs(size - np.eye(3)).max() > RIGID:
            raise UserError(
                f"{self._name} has another size in frame {frame} than it was built with; build it again "
                "there."
            )
        target.reset(colliders=drive.colliders)
        place = np.column_stack([turn, drive.pose[0, :, 3]])
        target.place(place, self._settings.velocity, self._settings.spin)

    def _kept(self, index: int, coefficients: np.ndarray) -> np.ndarray:
        away = self.drives[index].pose[0] - np.eye(3, 4)
        linear, shift = away[:, :3], away[:, 3]
        shifts = self._centers @ linear.T + shift
        return coefficients - np.concatenate(
            [np.tile(linear, (len(shifts), 1, 1)), shifts[:, :, None]], axis=2
        )
