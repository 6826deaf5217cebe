"""The final motion of a previewed body, simulated behind its draft, which shows until a frame is there."""

import time
from collections.abc import Generator

import bpy
import numpy as np

from ...core.cache import MotionCache
from ...core.final_cache import FinalCache
from ...core.full_space import DraftError, FullBody, compared, prepared, refuse_drive
from ...core.motion import FrameInput
from ...core.settings import Law, Quality
from ...core.simulation_pass import SimulationPass
from ...core.task import POLL_SECONDS, Runner, Step, Task
from ...core.user_error import UserError
from . import final_files
from .motions import Motions


class FinalPreview:
    """A pass in the full space behind a draft. error: how far the draft is off, once both are done."""

    def __init__(self, made: Motions, scene: bpy.types.Scene, cache: FinalCache) -> None:
        self.error: DraftError | None = None
        self.full: FullBody | None = None
        self._motions = made
        self._scene = scene
        self._cache = cache
        self._blend = bpy.data.filepath
        self._filling: SimulationPass | None = None
        self._trouble = ""
        self._preparing = Runner(self._prepare())
        # So many frames are compared with the draft, or being compared.
        self._compared = self._asked = 0
        self._comparing: Runner | None = None

    @property
    def cache(self) -> FinalCache:
        """What is kept of the motion."""
        return self._cache

    @property
    def checked(self) -> int:
        """How many frames are there and known to be right."""
        return 0 if self._filling is None else self._filling.checked

    def frame(self, index: int) -> np.ndarray | None:
        """The displacements (n, 3) f32 of a frame, None as long as it is not there."""
        return self._cache.coefficients[index] if index < self.checked else None

    def is_done(self, wanted: int) -> bool:
        """Whether nothing is left to do for so many frames."""
        return bool(self._trouble) or (self._compared == wanted and self.checked >= wanted)

    def status(self, wanted: int) -> str:
        """A few words for the panel."""
        if self._trouble:
            return f"Final: {self._trouble}"
        if self._filling is None:
            return "Preparing the final motion"
        if self.checked < wanted:
            return f"Final {self._filling.progress / wanted:.0%}"
        frames = self._cache.frames
        off = "" if self.error is None else f", its draft is {self.error.share:.0%} off"
        if self._cache.trouble:
            kept = f". {self._cache.trouble}"
        else:
            kept = "" if self._cache.path is not None else ". Kept with the file once it is saved"
        return f"Final {frames.start} - {frames.stop - 1}{off}{kept}"

    def work(self, drives: list[FrameInput], draft: MotionCache, wanted: int, seconds: float) -> None:
        """Goes on for about that long, with the drives that the draft was given so far."""
        if self._trouble:
            return
        try:
            self._follow_file()
            if self._filling is None:
                self._preparing.run(seconds)
            if self._filling is not None:
                self._feed(drives)
                self._filling.collect()
                if self.checked >= wanted and len(draft) >= wanted and self._compared != wanted:
                    self._compare(draft, wanted, seconds)
        except UserError as refusal:
            self._trouble = str(refusal)

    def reach(self, drives: list[FrameInput], index: int) -> None:
        """Waits until a frame is there whose drives are known."""
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
        """Waits until all frames are there and compared with the draft."""
        while not self.is_done(wanted):
            self.work(drives, draft, wanted, 0.0)
            if self.checked < wanted:
                time.sleep(POLL_SECONDS)
            yield Step(min(1.0, self.checked / wanted), "Simulating the final motion")

    def close(self) -> None:
        """Stops simulating; what is kept stays."""
        self._preparing.cancel()
        if self._filling is not None:
            self._filling.close()

    def _prepare(self) -> Task:
        state = self._motions.scene.host.jounce
        law = Law(state.law)
        self.full = yield from prepared(self._motions.body, state.built_digest, law, state.poisson)
        self._filling = self._motions.final(self._scene, self._cache, self.full.model)
        return ""

    def _feed(self, drives: list[FrameInput]) -> None:
        for drive in drives[len(self._filling.drives) :]:
            refuse_drive(drive, self._motions.scene.host.name)
            self._filling.feed(drive)

    def _compare(self, draft: MotionCache, wanted: int, seconds: float) -> None:
        if self._comparing is None or self._asked != wanted:
            pair = draft.coefficients[:wanted], self._cache.coefficients[:wanted]
            self._comparing, self._asked = Runner(self._comparison(*pair)), wanted
        self._comparing.run(seconds)

    def _comparison(self, draft: list[np.ndarray], final: list[np.ndarray]) -> Task:
        self.error = yield from compared(draft, self._motions.body, final, self.full)
        self._compared = len(final)
        return ""

    def _follow_file(self) -> None:
        """Keeps the motion where the .blend says; a file of the same .blend that is not in its place goes."""
        before, now = self._cache.path, final_files.path_of(self._motions.scene.host)
        if before == now:
            return
        self._cache = self._cache.moved(now)
        if self._filling is not None:
            self._filling.cache = self._cache
        if self._blend == bpy.data.filepath:
            final_files.delete(before)
        self._blend = bpy.data.filepath


def restarted(before: FinalPreview | None, made: Motions, scene: bpy.types.Scene) -> FinalPreview | None:
    """A pass with the settings as they are now, which keeps what is still right; None for drafts."""
    if before is not None:
        before.close()
    if Quality(made.scene.host.jounce.quality) is not Quality.FINAL:
        return None
    first = scene.frame_start
    if before is not None and before.cache.origin == made.final_origin(scene, first):
        return FinalPreview(made, scene, before.cache)
    return FinalPreview(made, scene, made.final_cache(scene, first))
