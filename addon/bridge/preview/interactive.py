"""The motion of a body while its pose is changed by hand: stepped in real time, until it has settled."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...core import motion
from ...core.full_space import Shaper
from ...core.motion import FrameInput

# It has settled when no vertex moves by more than this share of the diagonal in a step, for some steps.
STILL = 1e-5
STILL_STEPS = 8


class Interactive:
    """A simulation that follows `drive`, which may be set at any time, one frame's time a step.

    force: a generalised force that is added to what drives the body, None for none. shaper: what the
    coefficients are of.
    """

    def __init__(
        self,
        simulation: "motion.jounce.Simulation",
        shaper: Shaper,
        drive: FrameInput,
        diagonal: float,
        felt: Callable[[FrameInput], FrameInput],
    ) -> None:
        """simulation: in the state to go on from, its own from now on. diagonal: of the body.

        felt: what of a drive is simulated.
        """
        self.simulation = simulation
        self._felt = felt
        self.shaper = shaper
        self.drive = drive
        self.force: np.ndarray | None = None
        self._diagonal = diagonal
        self._still = 0

    def step(self) -> np.ndarray:
        """Goes on by the time of a frame; the coefficients."""
        drive = self._felt(self.drive)
        forces = [force for force in (drive.force, self.force) if force is not None]
        force = np.sum(forces, axis=0) if forces else None
        motion.step(self.simulation, replace(drive, force=force))
        return self.simulation.coefficients

    def watch(self, before: np.ndarray, after: np.ndarray) -> None:
        """Looks at the displacements before and after a step, in the diagonal's unit."""
        still = np.abs(after - before).max(initial=0.0) < STILL * self._diagonal
        self._still = self._still + 1 if still else 0

    @property
    def settled(self) -> bool:
        """Whether nothing moves or pulls any more."""
        return self.force is None and self._still >= STILL_STEPS
