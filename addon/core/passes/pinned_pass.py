"""Fills the cache of a pinned body, driven by poses of its object, loads and colliders."""

from typing import cast

import jounce
import numpy as np

from ..body.colliders import Colliders
from ..body.pinned import Tree
from ..body.tree_simulation import TreeJob, TreeSimulation
from ..stepping.motion import FrameInput, Schedule
from ..storage.cache import MotionCache
from .simulation_pass import SimulationPass, Start


class PinnedPass(SimulationPass):
    """A pass over the frames of a pinned body."""

    def __init__(
        self, cache: MotionCache, start: Start, course: Schedule, colliders: Colliders | None, model: Tree
    ) -> None:
        super().__init__(cache, start, course, colliders)
        self._model = model

    def _felt(self, drive: FrameInput) -> FrameInput:
        return drive.of_handles()

    def _job(self, simulation: "jounce.Simulation") -> "jounce.MotionJob":
        return cast("jounce.MotionJob", TreeJob(cast(TreeSimulation, simulation)))

    def shown(self, drive: FrameInput, coefficients: np.ndarray) -> np.ndarray:
        """Displacement of the body from its object's place."""
        return self._model.shown(drive.pose[0], coefficients)
