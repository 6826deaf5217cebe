"""Background passes behind the draft of a previewed body, by quality."""

import bpy

from ...core.flesh.settings import Quality, Target
from ..body import companions
from ..common.words import worded
from . import final_preview, learnt_preview
from .background_pass import BackgroundPass
from .motions import Motions

RESTARTED = {Quality.FINAL: final_preview.restarted, Quality.LEARNT: learnt_preview.restarted}


def restarted(before: BackgroundPass | None, made: Motions, scene: bpy.types.Scene) -> BackgroundPass | None:
    """A pass with the present settings, which keeps all valid frames; None for drafts."""
    if before is not None:
        before.close()
    restart = None if made.companions else RESTARTED.get(made.scene.host.jounce.simulated_quality)
    return None if restart is None else restart(before, made, scene)


def status(behind: BackgroundPass | None, host: bpy.types.Object, frames: range, wanted: int) -> str:
    """A few words for the panel about a complete draft and the motion behind it. frames: of the draft."""
    state = host.jounce
    if behind is not None:
        return behind.status(wanted)
    if not state.has_final:
        return worded("Cached {first} - {last}", first=frames.start, last=frames.stop - 1)
    why = companions.why_draft(host) or state.why_draft(Target(state.target), state.built_tets)
    return f"{worded('Draft')}: {why}" if why else worded("Draft")
