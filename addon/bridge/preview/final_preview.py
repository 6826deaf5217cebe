"""The final motion of a previewed body: every vertex of the cage, in a file beside the .blend."""

import bpy
import numpy as np

from ...core.cache import MotionCache
from ...core.final_cache import FinalCache
from ...core.full_space import compared, prepared
from ...core.motion import FrameInput
from ...core.task import Runner, Task
from . import final_files
from .behind import Behind
from .motions import Motions


class FinalPreview(Behind[FinalCache]):
    """A full-space pass behind a draft, which also measures the draft's error."""

    name = "Final"
    doing = "Preparing the final motion"

    def __init__(self, made: Motions, scene: bpy.types.Scene, cache: FinalCache) -> None:
        super().__init__(made, scene, cache)
        self._blend = bpy.data.filepath
        # Numbers of frames compared with the draft, and in comparison.
        self._compared = self._asked = 0
        self._comparing: Runner | None = None

    def _prepare(self) -> Task:
        made, state = self._motions, self._motions.scene.host.jounce
        self.fine = yield from prepared(made.body, state.built_digest, state.flesh(), made.scene.muscles)
        self._filling = self._motions.final(self._scene, self._cache, self.fine.model)
        return ""

    def _told(self) -> str:
        off = "" if self.error is None else f", its draft is {self.error.share:.0%} off"
        if self._cache.trouble:
            return f"{off}. {self._cache.trouble}"
        return off + ("" if self._cache.path is not None else ". Kept with the file once it is saved")

    def _is_compared(self, wanted: int) -> bool:
        return self._compared == wanted

    def _compare(self, _drives: list[FrameInput], draft: MotionCache, wanted: int, seconds: float) -> None:
        if self._comparing is None or self._asked != wanted:
            pair = draft.coefficients[:wanted], self._cache.coefficients[:wanted]
            self._comparing, self._asked = Runner(self._comparison(*pair)), wanted
        self._comparing.run(seconds)

    def _comparison(self, draft: list[np.ndarray], final: list[np.ndarray]) -> Task:
        self.error = yield from compared(draft, self._motions.body, final, self.fine)
        self._compared = len(final)
        if self._filling is not None:
            self._motions.show(self._scene, self._filling, self._cache.frames)
        return ""

    def _follow_file(self) -> None:
        """Keeps the motion in the place given by the .blend; deletes a file of the same .blend elsewhere."""
        before, now = self._cache.path, final_files.path_of(self._motions.scene.host)
        if before == now:
            return
        self._cache = self._cache.moved(now)
        if self._filling is not None:
            self._filling.cache = self._cache
        if self._blend == bpy.data.filepath:
            final_files.delete(before)
        self._blend = bpy.data.filepath


def restarted(before: Behind | None, made: Motions, scene: bpy.types.Scene) -> FinalPreview:
    """A pass with the present settings, which keeps all valid frames."""
    first = scene.frame_start
    if isinstance(before, FinalPreview) and before.cache.origin == made.final_origin(scene, first):
        return FinalPreview(made, scene, before.cache)
    return FinalPreview(made, scene, made.final_cache(scene, first))
