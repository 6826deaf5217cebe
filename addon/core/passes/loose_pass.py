"""Fills the cache of a loose body: the body starts at its object and moves freely after the release.

The meshes stay with their object, which may be animated, and the cache holds the displacement from there.
With the object's transform T since the build, the place `X + u` of a point is shown by the displacement `u -
(T - 1) X` from `T X`. Handles about c_j reproduce every affine motion exactly: the coefficients of the
subtracted part are `[A | A c_j + b]` for `(T - 1) X = A X + b`. A final motion has the displacements of the
cage's vertices themselves.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import takewhile

import jounce
import numpy as np

from ..body.colliders import Colliders, polar
from ..body.loose import LooseBody
from ..common.user_error import UserError
from ..flesh.settings import LooseMotion
from ..stepping.motion import FrameInput, Schedule, Target, VertexInput
from ..storage.cache import MotionCache
from .simulation_pass import SimulationPass, Start

# Tolerance for scaling the object after the build, against rounding.
RIGID = 1e-4
# Frequency of the hold on a body that goes along with its object, Hz: firm at any number of substeps.
FIRM = 1e5
# Strength of the catch: after half of the duration two thirds of the way remain, and in the last frame before
# the end at most a fortieth.
DRAWN = 6.0


@dataclass(frozen=True)
class Throw:
    """Throw and catch of a body. seconds: duration of a frame. name: of the body."""

    settings: LooseMotion
    seconds: float
    name: str

    def hold(self, drives: list[FrameInput]) -> float:
        """Frequency of the hold in the step to the last of these frames, Hz; 0 for a free body.

        During a catch the frequency rises from 0 to infinity, which keeps position, velocity and shape
        continuous: `w = 6 s / (T (1 - s))` at a share s of the duration T.
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
        *,
        is_final: bool = False,
    ) -> None:
        """throw: the start and the catch. The other arguments are those of any pass."""
        super().__init__(cache, start, Schedule(), colliders, is_final=is_final)
        self._throw = throw
        self._centers = np.asarray(body.mesh.vertices if is_final else body.model.handle_centers)

    def _felt(self, drive: FrameInput) -> FrameInput:
        if not self._is_final:
            return drive.of_handles()
        own = VertexInput() if drive.vertices is None else drive.vertices
        return replace(drive.of_handles(), force=own.force, drag=own.drag)

    def _play(self, target: Target, indices: Iterable[int]) -> None:
        for index in indices:
            drive = self.prepare(target, index)
            if self.starts(index):
                self.start_anew(target, drive, index)
            else:
                target.step(drive.pose, drive.force, None, drive.drag, drive.colliders)

    def own_digest(self) -> bytes:
        """Digest of the part of the last drive that concerns this body alone."""
        return replace(self.felt(self.drives[-1]), touching=()).digest()

    def starts(self, index: int) -> bool:
        """True if the body starts in a frame, for the first time or again."""
        return index == 0 or self.drives[index].cut

    def prepare(self, target: Target, index: int) -> FrameInput:
        """Prepares a target for the step to a frame; returns the drive."""
        drive = self._native(index)
        if drive.held:
            raise UserError(f"In frame {self.cache.first + index} {drive.held}.")
        drive.set_up(target)
        self._vary(target, index)
        if drive.animated and not self.starts(index):
            self._refuse_scaled(drive, index)
            before = self.drives[index - 1]
            if before.animated and self.starts(index - 1):
                # A coasting body moves from the first frame on, with the velocity of the start.
                target.coast(drive.pose, colliders=drive.colliders)
        return drive

    def _vary(self, target: Target, index: int) -> None:
        """Sets inflation and hold of a target for a frame."""
        hold = self._throw.hold(self.drives[: index + 1])
        target.vary(inflation=self.drives[index].inflation, hold=hold)

    def start_anew(self, target: Target, drive: FrameInput, index: int) -> None:
        """Starts in the place of the object."""
        turn = self._refuse_scaled(drive, index)
        target.reset(colliders=drive.colliders)
        settings = self._throw.settings
        target.place(np.column_stack([turn, drive.pose[0, :, 3]]), settings.velocity, settings.spin)

    def _refuse_scaled(self, drive: FrameInput, index: int) -> np.ndarray:
        """Rotation of the object; refuses a changed size."""
        turn, size = (each[0] for each in polar(drive.pose[:1]))
        if np.abs(size - np.eye(3)).max() > RIGID:
            raise UserError(
                f"{self._throw.name} has another size in frame {self.cache.first + index} than it was built "
                "with; build it again there."
            )
        return turn

    def simulation_at(self, index: int) -> "jounce.Simulation":
        """Simulation of any pass, with inflation and hold of the frame."""
        simulation = super().simulation_at(index)
        self._vary(simulation, index)
        return simulation

    def shown(self, drive: FrameInput, coefficients: np.ndarray) -> np.ndarray:
        """Displacement of the body from its object."""
        away = drive.pose[0] - np.eye(3, 4)
        linear, shift = away[:, :3], away[:, 3]
        shifts = self._centers @ linear.T + shift
        if self._is_final:
            return coefficients - shifts
        return coefficients - np.concatenate(
            [np.tile(linear, (len(shifts), 1, 1)), shifts[:, :, None]], axis=2
        )
