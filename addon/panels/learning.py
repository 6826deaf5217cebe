"""The learnt basis of a body, below its quality."""

import bpy

from ..bridge.body import bodies
from ..bridge.common.words import worded
from ..bridge.motions import learnt_store
from ..bridge.motions.learnt_preview import LearntPreview
from ..bridge.preview import previews
from ..core.flesh.settings import Quality
from ..core.shot.learnt import Learnt
from . import sidebar
from .sidebar import said

# Largest number of shots listed by name.
LISTED = 6
# Numbers of displacements with a listed remainder.
COUNTS = (4, 8, 16, 32, 64)


def draw_learning(layout: bpy.types.UILayout, context: bpy.types.Context) -> None:
    """Shows the button for learning the shot, and in a word how near the learnt basis comes."""
    host = bodies.host_of(context.object)
    known = learnt_store.of(host)
    column = layout.column(align=True)
    if known is None:
        row = column.row(align=True)
        row.operator("jounce.learn", icon="OUTLINER_OB_LIGHTPROBE").also = False
        row.operator("jounce.learnt_load", text="", icon="IMPORT")
    else:
        row = column.row(align=True)
        row.operator("jounce.learn", text="Learn This Shot", icon="OUTLINER_OB_LIGHTPROBE").also = False
        row.operator("jounce.learn", text="", icon="ADD").also = True
        row.operator("jounce.learnt_save", text="", icon="EXPORT")
        row.operator("jounce.forget_learnt", text="", icon="TRASH")
    column.row().prop(host.jounce, "displacements", expand=True)
    if host.jounce.simulated_quality is not Quality.LEARNT:
        return
    if known is not None:
        text = worded("{error} from Final", error=f"{known.facts.error:.1%}")
        sidebar.wrapped(layout, context, text=text, translate=False, icon="CHECKMARK")
    seen = previews.session(host)
    if seen is not None and isinstance(seen.final, LearntPreview):
        for sentence in seen.final.warnings():
            again = said(layout, context, sentence).operator(
                "jounce.learn", text="Learn Again", icon="FILE_REFRESH"
            )
            again.also = has_others(known)


def has_others(known: Learnt | None) -> bool:
    """True with several learnt shots, all kept if one of them is learnt again."""
    return known is not None and len(known.facts.clips) > 1


def draw_lesson(column: bpy.types.UILayout, known: Learnt, context: bpy.types.Context) -> None:
    """Shows the learnt shots, the number of displacements, and the errors."""
    facts = known.facts

    def told(text: str, **looks: object) -> None:
        sidebar.wrapped(column, context, text=text, **looks)

    for clip in facts.clips[-LISTED:]:
        told(f"{clip.name}, {clip.frames} frames", icon="ACTION", translate=False)
    told(f"{len(known.shapes)} displacements leave {facts.left_out:.1%} out")
    fewer = [count for count in COUNTS if count < len(known.shapes)]
    if fewer:
        told(", ".join(f"{count}: {known.left_out_by(count):.1%}" for count in fewer))
    told(f"{facts.error:.1%} from Final, the draft {facts.draft_error:.0%}")
    if facts.held_out is not None:
        told(f"{facts.held_out:.0%} in frames that were not seen")
