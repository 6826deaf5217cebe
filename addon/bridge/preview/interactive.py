"""The motion of a body during changes of the pose by hand: stepped in real time until at rest."""

from dataclasses import replace
from typing import Self

import jounce
import numpy as np

from ...core.body.full_space import Shaper
from ...core.passes.simulation_pass import SimulationPass
from ...core.stepping import motion
from ...core.stepping.motion import FrameInput

# Rest: no vertex moves by more than this share of the diagonal per step, for some steps.
STILL = 1e-5
STILL_STEPS = 8
# Largest number of steps of a free body, which may fall forever.
FALLING_STEPS = 240


class Interactive:
    """A simulation that follows `drive`, which may be set at any time; one frame's time per step.

    force: an additional generalised force, None for none. pull: springs on points of a body of handles, None
    for none. shaper: owner of the coefficients. beside: (p, 3), metres, what direction adds to the frame in
    which it began, None for nothing.
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
        """simulation: in the starting state, owned from now on. diagonal: of the body.

        filling: the pass that the simulation belongs to, at a frame.
        """
        self.simulation = simulation
        self._filling, self._frame = filling, frame
        self.shaper = shaper
        self.drive = drive
        self.force: np.ndarray | None = None
        self.pull: jounce.Pull | None = None
        self.beside: np.ndarray | None = None
        self._diagonal = diagonal
        self._still = self._free = 0

    @classmethod
    def begun(
        cls, filling: SimulationPass, shaper: Shaper, drive: FrameInput, diagonal: float, frame: int
    ) -> Self:
        """A simulation that continues from a frame of a pass, or starts anew for a frame with
        another drive.
        """
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
        return self._filling.shown(drive, self.simulation.coefficients)

    def watch(self, before: np.ndarray, after: np.ndarray) -> None:
        """Looks at the displacements before and after a step, in the diagonal's unit."""
        still = np.abs(after - before).max(initial=0.0) < STILL * self._diagonal
        self._still = self._still + 1 if still else 0

    @property
    def settled(self) -> bool:
        """True once nothing moves or is pulled, or a falling body was released long ago."""
        gone = not self._filling.follows_hand and self._free >= FALLING_STEPS
        return not self.pulled and (gone or self._still >= STILL_STEPS)

    @property
    def pulled(self) -> bool:
        """True while the user pulls."""
        return self.force is not None or self.pull is not None
