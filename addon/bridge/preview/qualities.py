"""Background passes behind the draft of a previewed body, by quality."""

import bpy

from ...core.settings import Quality
from . import final_preview, learnt_preview
from .behind import Behind
from .motions import Motions

RESTARTED = {Quality.FINAL: final_preview.restarted, Quality.LEARNT: learnt_preview.restarted}


def restarted(before: Behind | None, made: Motions, scene: bpy.types.Scene) -> Behind | None:
    """A pass with the present settings, which keeps all valid frames; None for drafts."""
    if before is not None:
        before.close()
    restart = RESTARTED.get(made.scene.host.jounce.simulated_quality)
    return None if restart is None else restart(before, made, scene)
