"""Fills the cache of an attached body, driven by poses, gravity and colliders; of a looping one too."""

import numpy as np

from ..stepping.motion import FrameInput
from .loop_pass import LoopPass
from .simulation_pass import SimulationPass


class AttachedPass(SimulationPass):
    """A pass over the frames of an attached body."""

    follows_hand = False

    def _felt(self, drive: FrameInput) -> FrameInput:
        return drive.of_handles()

    def shown(self, drive: FrameInput, coefficients: np.ndarray) -> np.ndarray:
        """Displacement of the body from its rigged place, as large a share of it as the strength says."""
        return drive.strength * np.concatenate([coefficients, np.eye(3, 4) - drive.pose])


class AttachedLoopPass(AttachedPass, LoopPass):
    """A pass over a cycle of an attached body, and any following frames."""

    # A hanging sheet swings far, and forgets its start slowly.
    most = 32
