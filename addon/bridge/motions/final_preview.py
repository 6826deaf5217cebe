"""The final motion of a previewed body: every vertex of the cage, in a file beside the .blend."""

import time

import bpy
import numpy as np

from ...core.body.full_space import compared, prepared
from ...core.common.task import Runner, Task
from ...core.stepping.motion import FrameInput
from ...core.storage.cache import MotionCache
from ...core.storage.final_cache import FinalCache
from ..common.words import worded
from . import final_files, first_look
from .background_pass import BackgroundPass
from .motions import Motions

# Seconds on a frame before it is simulated ahead of those before it.
RESTED_SECONDS = 0.3


class FinalPreview(BackgroundPass[FinalCache]):
    """A full-space pass behind a draft, which also measures the draft's error.

    While the artist rests on a frame that is far ahead, a first look at it comes before its turn.
    """

    name = "Final"

    def __init__(self, made: Motions, scene: bpy.types.Scene, cache: FinalCache) -> None:
        super().__init__(made, scene, cache)
        self._blend = bpy.data.filepath
        # Numbers of frames compared with the draft, and in comparison.
        self._compared = self._asked = 0
        self._comparing: Runner | None = None
        self._look: first_look.FirstLook | None = None
        # The artist's frame, and the time since which it has been so.
        self._rests, self._since = scene.frame_current, time.perf_counter()

    def frame(self, index: int) -> np.ndarray | None:
        """The coefficients of a frame, or of a first look at it; None for a missing frame."""
        is_seen = self._look is not None and self._look.frame == self._cache.first + index
        return self._look.coefficients if is_seen and index >= self.checked else super().frame(index)

    def work(self, drives: list[FrameInput], draft: MotionCache, wanted: int, seconds: float) -> None:
        """Continues for about this time, with the draft's drives until now."""
        super().work(drives, draft, wanted, seconds)
        if self._filling is not None and not self._trouble:
            self._look_ahead(drives, time.perf_counter() + seconds)

    def close(self) -> None:
        """Stops the simulation; cached frames stay."""
        super().close()
        if self._look is not None:
            self._look.close()

    def _look_ahead(self, drives: list[FrameInput], deadline: float) -> None:
        """Begins a first look at a frame on which the artist rests, and ends one that is not needed."""
        now, first, filling = self._scene.frame_current, self._cache.first, self._filling
        if now != self._rests:
            self._rests, self._since = now, time.perf_counter()
        rests = time.perf_counter() - self._since > RESTED_SECONDS
        if self._look is None and rests and self.checked <= now - first < len(drives):
            self._since = float("inf")
            self._look = first_look.restarted(None, self._motions, self._scene, filling, self.fine.model)
        look = self._look
        if look is not None and not look.work(self._scene, filling, lambda at: drives[at - first], deadline):
            self._look = None

    def _prepare(self) -> Task:
        made, state = self._motions, self._motions.scene.host.jounce
        self.fine = yield from prepared(made.body, state.built_digest, state.flesh(), made.scene.muscles)
        self._filling = self._motions.final(self._scene, self._cache, self.fine.model)
        return ""

    def status(self, wanted: int) -> str:
        """A few words for the panel."""
        is_seen = self._look is not None and self._look.coefficients is not None
        return super().status(wanted) + (first_look.sentence(self._look.frame) if is_seen else "")

    @property
    def draft_distance(self) -> str:
        """Distance of the draft from this motion, in words; empty if unknown."""
        if self.error is None:
            return ""
        share, state = f"{self.error.share:.0%}", self._motions.scene.host.jounce
        if state.drafts_vertices(state.simulated_quality, state.built_tets):
            return worded("A frame is {share} off until it is Final", share=share)
        return worded("The draft is {share} off", share=share)

    def _told(self) -> str:
        rough = "" if self._filling is None else self._filling.rough()
        unsaved = "" if self._cache.path is not None else worded("Kept with the file once it is saved")
        told = filter(None, (rough, self._cache.trouble or unsaved))
        return "".join(f". {sentence}" for sentence in told)

    def _is_compared(self, wanted: int) -> bool:
        return self._compared == wanted

    def _compare(self, drives: list[FrameInput], draft: MotionCache, wanted: int, seconds: float) -> None:
        if self._comparing is None or self._asked != wanted:
            pair = draft.coefficients[:wanted], self._cache.coefficients[:wanted]
            poses = [drive.pose for drive in drives[:wanted]]
            self._comparing, self._asked = Runner(self._comparison(*pair, poses)), wanted
        self._comparing.run(seconds)

    def _comparison(self, draft: list[np.ndarray], final: list[np.ndarray], poses: list[np.ndarray]) -> Task:
        self.error = yield from compared(draft, self._motions.drafted(), final, self.fine, poses)
        self._compared = len(final)
        if self._filling is not None:
            self._motions.show(self._scene, self._filling, self._cache.frames)
        return ""

    def _follow_file(self) -> None:
        """Keeps the motion in the place given by the .blend; deletes a file of the same .blend elsewhere."""
        before, now = self._cache.path, final_files.path_of(self._motions.scene.host)
        if before == now:
            return
        self._cache = final_files.moved(self._motions.scene.host, self._cache)
        if self._filling is not None:
            self._filling.cache = self._cache
        if self._blend == bpy.data.filepath:
            final_files.delete(before)
        self._blend = bpy.data.filepath


def restarted(before: BackgroundPass | None, made: Motions, scene: bpy.types.Scene) -> FinalPreview:
    """A pass with the present settings, which keeps all valid frames."""
    first = scene.frame_start
    if isinstance(before, FinalPreview) and before.cache.origin == made.final_origin(scene, first):
        return FinalPreview(made, scene, before.cache)
    return FinalPreview(made, scene, made.final_cache(scene, first))
