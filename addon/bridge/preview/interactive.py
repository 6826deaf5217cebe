"""The motion of a body while its pose is changed by hand: stepped in real time, until it has settled."""

from dataclasses import replace
from typing import Self

import jounce
import numpy as np

from ...core import motion
from ...core.full_space import Shaper
from ...core.motion import FrameInput
from ...core.simulation_pass import SimulationPass

# It has settled when no vertex moves by more than this share of the diagonal in a step, for some steps.
STILL = 1e-5
STILL_STEPS = 8
# What goes where it goes may fall for ever: for so many steps it is watched.
FALLING_STEPS = 240


class Interactive:
    """A simulation that follows `drive`, which may be set at any time, one frame's time a step.

    force: a generalised force that is added to what drives the body, None for none. pull: what holds points
    of a body of handles, None for nothing. shaper: what the coefficients are of.
    """

    def __init__(
        self,
        simulation: "motion.jounce.Simulation",
        shaper: Shaper,
        drive: FrameInput,
        diagonal: float,
        filling: SimulationPass,
        frame: int,
    ) -> None:
        """simulation: in the state to go on from, its own from now on. diagonal: of the body.

        filling: the pass that it is of, in a frame.
        """
        self.simulation = simulation
        self._filling, self._frame = filling, frame
        self.shaper = shaper
        self.drive = drive
        self.force: np.ndarray | None = None
        self.pull: jounce.Pull | None = None
        self._diagonal = diagonal
        self._still = self._free = 0

    @classmethod
    def begun(
        cls, filling: SimulationPass, shaper: Shaper, drive: FrameInput, diagonal: float, frame: int
    ) -> Self:
        """One that goes on from a frame of a pass, afresh where that was driven by something else."""
        index = frame - filling.cache.first
        if filling.agrees(index, drive):
            simulation = filling.simulation_at(index)
        else:
            simulation = filling.fresh()
            simulation.reset(drive.pose)
        return cls(simulation, shaper, drive, diagonal, filling, frame)

    def step(self) -> np.ndarray:
        """Goes on by the time of a frame; the coefficients."""
        drive = self._filling.native(self.drive, self._frame)
        forces = [force for force in (drive.force, self.force) if force is not None]
        force = np.sum(forces, axis=0) if forces else None
        motion.step(self.simulation, replace(drive, force=force), self.pull)
        self._free = 0 if self.pulled else self._free + 1
        return self._filling.shown(drive.pose, self.simulation.coefficients)

    def watch(self, before: np.ndarray, after: np.ndarray) -> None:
        """Looks at the displacements before and after a step, in the diagonal's unit."""
        still = np.abs(after - before).max(initial=0.0) < STILL * self._diagonal
        self._still = self._still + 1 if still else 0

    @property
    def settled(self) -> bool:
        """Whether nothing moves or pulls any more, or what falls has been let go for long."""
        gone = not self._filling.follows_hand and self._free >= FALLING_STEPS
        return not self.pulled and (gone or self._still >= STILL_STEPS)

    @property
    def pulled(self) -> bool:
        """Whether a hand pulls."""
        return self.force is not None or self.pull is not None
