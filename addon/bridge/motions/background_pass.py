"""A background motion of a previewed body; the draft is shown until a frame is ready."""

import time
from collections.abc import Generator
from typing import Generic, TypeVar

import bpy
import numpy as np

from ...core.body.full_space import DraftError, FineBody
from ...core.common.task import POLL_SECONDS, Runner, Step, Task
from ...core.common.user_error import UserError
from ...core.passes.simulation_pass import SimulationPass
from ...core.stepping.motion import FrameInput
from ...core.storage.cache import MotionCache
from ..common.words import worded
from .motions import Motions

Cache = TypeVar("Cache", bound=MotionCache)


class BackgroundPass(Generic[Cache]):
    """A background pass behind a draft. Subclasses define the motion and its report.

    error: distance of the draft or the learnt motion from the final motion, once known.
    """

    # Name of the motion.
    name = ""

    def __init__(self, made: Motions, scene: bpy.types.Scene, cache: Cache) -> None:
        self.error: DraftError | None = None
        self.fine: FineBody | None = None
        self._motions = made
        self._scene = scene
        self._cache = cache
        self._filling: SimulationPass | None = None
        self._trouble = ""
        self._preparing = Runner(self._prepare())

    @property
    def cache(self) -> Cache:
        """Cache of the motion."""
        return self._cache

    @property
    def checked(self) -> int:
        """Number of complete and verified frames."""
        return 0 if self._filling is None else self._filling.checked

    @property
    def filling(self) -> SimulationPass | None:
        """The pass, None before it is prepared."""
        return self._filling

    @property
    def rough(self) -> list[int]:
        """Numbers of the frames that have not converged."""
        return sorted(self._cache.first + row for row in self._cache.rough)

    @property
    def by_hand(self) -> tuple[SimulationPass, FineBody] | None:
        """Pass and body for movement by hand; None for the draft."""
        return None

    def frame(self, index: int) -> np.ndarray | None:
        """The coefficients of a frame, None for a missing frame."""
        return self._cache.coefficients[index] if index < self.checked else None

    def is_done(self, wanted: int) -> bool:
        """True if nothing is left to do for this number of frames."""
        return bool(self._trouble) or (self.checked >= wanted and self._is_compared(wanted))

    def status(self, wanted: int) -> str:
        """A few words for the panel."""
        if self._trouble:
            return f"{worded(self.name)}: {self._trouble}"
        if self._filling is None:
            return worded("Draft; getting ready")
        if self.checked < wanted:
            done = int(self._filling.progress)
            return worded(self.name) + worded(", {done} of {wanted} frames", done=done, wanted=wanted)
        return worded(self.name) + self._told()

    @property
    def draft_distance(self) -> str:
        """Distance of the draft from this motion, in words; empty if unknown."""
        return ""

    def work(self, drives: list[FrameInput], draft: MotionCache, wanted: int, seconds: float) -> None:
        """Continues for about this time, with the draft's drives until now."""
        if self._trouble:
            return
        try:
            self._follow_file()
            if self._filling is None:
                self._preparing.run(seconds)
            if self._filling is not None:
                self._feed(drives)
                self._filling.collect()
                if self.checked >= wanted and len(draft) >= wanted and not self._is_compared(wanted):
                    self._compare(drives, draft, wanted, seconds)
        except UserError as refusal:
            self._trouble = str(refusal)

    def reach(self, drives: list[FrameInput], index: int) -> None:
        """Waits until a frame with a known drive is complete."""
        if self._trouble:
            return
        try:
            if self._filling is None:
                self._preparing.run(float("inf"))
            self._feed(drives)
            if self.checked <= index:
                self._filling.collect(wait=True)
        except UserError as refusal:
            self._trouble = str(refusal)

    def filled(
        self, drives: list[FrameInput], draft: MotionCache, wanted: int
    ) -> Generator[Step, None, None]:
        """Waits until all frames are there and nothing is left to compare."""
        while not self.is_done(wanted):
            self.work(drives, draft, wanted, 0.0)
            if self.checked < wanted:
                time.sleep(POLL_SECONDS)
            yield Step(min(1.0, self.checked / wanted), "Simulating the final motion")

    def close(self) -> None:
        """Stops the simulation; cached frames stay."""
        self._preparing.cancel()
        if self._filling is not None:
            self._filling.close()

    def _feed(self, drives: list[FrameInput]) -> None:
        for drive in drives[len(self._filling.drives) :]:
            self._refuse(drive)
            self._filling.feed(drive)

    def _refuse(self, drive: FrameInput) -> None:
        """Refuses unsupported drives: none."""

    def _prepare(self) -> Task:
        """Makes `fine` and its pass."""
        raise NotImplementedError

    def _told(self) -> str:
        """Report on a complete motion, after the number of frames."""
        raise NotImplementedError

    def _is_compared(self, wanted: int) -> bool:
        """True if nothing is left to compare for this number of frames."""
        raise NotImplementedError

    def _compare(self, drives: list[FrameInput], draft: MotionCache, wanted: int, seconds: float) -> None:
        """Continues the comparison for about this time."""
        raise NotImplementedError

    def _follow_file(self) -> None:
        """Keeps the file in the place given by the .blend."""
