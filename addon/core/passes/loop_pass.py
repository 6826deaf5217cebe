"""Fills the cache of a looping motion.

The first frame depends on all others and is unknown before the last has been read. The pass reads the cycle,
finds the state that closes the loop, and plays the motion from this state like a bake.
"""

import hashlib
from collections.abc import Generator
from dataclasses import replace
from typing import cast

import jounce
import numpy as np
from jounce.final_motion import DIGEST_BYTES

from ..body.colliders import Colliders
from ..common.task import Step, until_done
from ..common.user_error import passing_on
from ..flesh.settings import RestartMode
from ..mesh.surface import Surface
from ..stepping.loops import cycle_arguments, refuse_open
from ..stepping.motion import FrameInput, Motion, Reduce, Schedule, Target, step
from ..storage.cache import MotionCache
from .simulation_pass import SimulationPass, Start

# Largest number of passes over a cycle; most cycles close in four.
PASSES = 16
# Share of the closing in the whole work of closing a loop and playing.
CLOSING = 0.9


class LoopPass(SimulationPass):
    """A pass over a cycle and any following frames."""

    # Largest number of passes over the cycle.
    most = PASSES

    def __init__(
        self,
        cache: MotionCache,
        start: Start,
        course: Schedule,
        frames: int,
        surface: Surface,
        colliders: Colliders | None = None,
        *,
        is_final: bool = False,
        reduce: Reduce | None = None,
    ) -> None:
        """frames: of the cycle, the last like the first. The other arguments are those of any pass."""
        # A cycle starts in its end state.
        course = replace(course, start=RestartMode.SETTLED)
        super().__init__(cache, start, course, colliders, is_final=is_final, reduce=reduce)
        self._frames = frames
        self._surface = surface
        self._cycle = b""

    @property
    def checked(self) -> int:
        """None before the cycle is known."""
        return super().checked if self._cycle else 0

    @property
    def closing(self) -> bool:
        """Until the first frame is known."""
        return self.checked == 0

    @property
    def progress(self) -> float:
        """Reading counts as half of the work, closing the loop as most of the other half."""
        return 0.5 * (len(self.drives) + max(self.checked, CLOSING * self._frames * self._closed))

    @property
    def _closed(self) -> float:
        """Progress of closing the cycle, in [0, 1]."""
        return self._recorder.job.progress if self._cycle and self._recorder is not None else 0.0

    def caught_up(self) -> Generator[Step, None, None]:
        """Waits until the loop is closed, and all frames with known drives are simulated."""
        for done in super().caught_up():
            yield Step(max(done.fraction, CLOSING * self._closed), "Closing the loop")

    def needed(self, index: int) -> int:
        """All of the cycle at least."""
        return max(self._frames, index + 1)

    def remembers(self, _index: int, _drive: FrameInput) -> bool:
        """Always false: one drive does not determine a cycle."""
        return False

    def feed(self, drive: FrameInput) -> None:
        """Takes the drive of the next frame; the last of the cycle starts the simulation."""
        self._take(drive)
        if len(self.drives) == self._frames:
            natives = [self._native(index) for index in range(self._frames)]
            refuse_open(natives, self._surface, self.course, self.colliding)
            digest = hashlib.blake2b(digest_size=DIGEST_BYTES)
            for each in self.drives:
                digest.update(self.felt(each).digest())
            self._cycle = digest.digest()
            for index in range(self._frames):
                self._simulate(index)
        elif self._cycle:
            self._simulate(len(self.drives) - 1)

    def _digest(self, index: int) -> bytes:
        whole = hashlib.blake2b(self._cycle + super()._digest(index), digest_size=DIGEST_BYTES)
        return whole.digest()

    def _begin(self, target: Target, _drive: FrameInput) -> None:
        cycle = [self._native(index) for index in range(self._frames)]
        cycle[0].set_up(target)
        target.settle_cycle(**cycle_arguments(cycle), max_passes=self.most)

    def looped(self, cycle: list[FrameInput]) -> "Generator[Step, None, tuple[Motion, jounce.CycleReport]]":
        """The motion over a cycle of drives, the last like the first, and a report on the seam."""
        self.drives.extend(cycle)
        natives = [self.native(drive, self.cache.first + index) for index, drive in enumerate(cycle)]
        refuse_open(natives, self._surface, self.course, self.colliding)
        job = jounce.MotionJob(self.fresh())
        try:
            natives[0].set_up(job)
            job.settle_cycle(**cycle_arguments(natives), max_passes=self.most)
            job.keep()
            for drive in natives[1:]:
                step(job, drive)
                job.keep()
            yield from until_done(job, lambda: "Closing the loop")
            with passing_on("The motion cannot loop"):
                found = [self.shown(*both) for both in zip(natives, job.coefficients(), strict=True)]
            motion = Motion(np.stack([drive.pose for drive in natives]), np.stack(found))
            # A finished job without refusal has a report.
            return motion, cast("jounce.CycleReport", job.report)
        finally:
            job.cancel()
