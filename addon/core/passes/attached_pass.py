"""Fills the cache of an attached body, driven by poses, gravity and colliders."""

from collections.abc import Iterable

import numpy as np

from ..stepping.motion import FrameInput
from .simulation_pass import SimulationPass


class AttachedPass(SimulationPass):
    """A pass over the frames of an attached body."""

    follows_hand = False

    def _felt(self, drive: FrameInput) -> FrameInput:
        return drive.of_handles()

    def _kept(self, index: int, coefficients: np.ndarray) -> np.ndarray:
        return self.shown(self._followed(self.drives[index::-1]), coefficients)

    def shown(self, pose: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """Displacement of the body from its rigged place."""
        return np.concatenate([coefficients, np.eye(3, 4) - pose])

    def _followed(self, drives: Iterable[FrameInput]) -> np.ndarray:
        """The pose of the last frame without a hold; the rest pose before the first."""
        at_rest = np.tile(np.eye(3, 4), (len(self.drives[0].pose), 1, 1))
        return next((drive.pose for drive in drives if not drive.held), at_rest)
