"""jounce.learn: the final motion of a shot becomes a few displacements, in which the flesh is live."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
from bpy.props import BoolProperty

from ..bridge.body import bodies, builds
from ..bridge.body.bodies import BodyScene
from ..bridge.preview import lessons, previews
from ..bridge.preview.pupil import Pupil
from ..bridge.rig.armature_modifier import Warn
from ..core import bodies as built
from ..core.learnt import Learnt
from ..core.settings import Quality
from ..core.task import Step, Task, in_turn, scaled
from ..core.user_error import UserError
from . import needs
from .operator import JounceOperator, LongOperator


class JOUNCE_OT_learn(LongOperator):
    """Learn the Final motion of this shot, so that the flesh moves nearly so, live, at any stiffness"""

    bl_idname = "jounce.learn"
    bl_label = "Learn This Shot"
    bl_options = {"UNDO"}
    needs = (needs.flesh, needs.out_of_edit_mode)

    also: BoolProperty(
        name="Also",
        description="Learn this shot beside those that are known already",
        options={"SKIP_SAVE"},
    )

    def task(self, context: bpy.types.Context) -> Task:
        """One body after the other; what they have learnt is kept once all have."""
        hosts = bodies.hosts(context)
        parts = (learn_body(host, context, self.also, self.warn) for host in hosts)
        lessons_learnt = yield from in_turn(parts)
        return "; ".join(keep(lesson, context) for lesson in lessons_learnt)


class JOUNCE_OT_forget_learnt(JounceOperator):
    """Forget what the selected bodies have learnt, and show their drafts"""

    bl_idname = "jounce.forget_learnt"
    bl_label = "Forget What Was Learnt"
    bl_options = {"UNDO"}
    needs = (needs.learnt,)

    def run(self, context: bpy.types.Context) -> str:
        """Forgets one after the other."""
        hosts = needs.learnt(context)
        for host in hosts:
            lessons.forget(host)
            if Quality(host.jounce.quality) is Quality.LEARNT:
                host.jounce.quality = Quality.DRAFT.value
        return f"{', '.join(host.name for host in hosts)} forgot what was learnt."


@dataclass(frozen=True)
class Lesson:
    """What a body has learnt, not kept yet. built_again: what a build just made, empty without one."""

    host: bpy.types.Object
    learnt: Learnt
    body: "built.jounce.Body"
    digest: str
    built_again: str


def keep(lesson: Lesson, context: bpy.types.Context) -> str:
    """Keeps what was learnt with its host, which moves in it from now on, and says how near that comes."""
    host, facts = lesson.host, lesson.learnt.facts
    if lesson.digest != host.jounce.built_digest:
        builds.remember(host, lesson.body, lesson.digest, lesson.built_again, context)
    lessons.keep(host, lesson.learnt)
    host.jounce.quality = Quality.LEARNT.value
    count = len(lesson.learnt.shapes)
    return (
        f"{host.name} has learnt {facts.clips[-1].name} in {count} displacements: {facts.error:.1%} from "
        f"Final, where the draft is {facts.draft_error:.0%} off"
    )


def learn_body(
    host: bpy.types.Object, context: bpy.types.Context, also: bool, warn: Warn
) -> Generator[Step, None, Lesson]:
    """Learns the shot of one body, beside others if `also`; the scene stays as it is."""
    # What is learnt is the final motion with what it collides with. This quality is not the artist's, and
    # nothing for the preview to follow.
    with previews.paused(), at_final_quality(host):
        scene = bodies.read(host, context, warn)
        refuse_unlearnable(scene)
        settings = host.jounce.build_settings()
        digest, built_again = scene.surface.digest(settings), ""
        if built.CACHE.get(digest) is None:
            built_again = yield from scaled(built.build(scene.surface, settings), 0.0, 0.1)
        body = built.CACHE.get(digest)
        pupil = Pupil(scene, body, digest, context)
        others = pupil.others(warn) if also else []
        found = yield from scaled(pupil.learn(int(host.jounce.displacements), others), 0.1, 1.0)
        return Lesson(host, found, body, digest, built_again)


@contextmanager
def at_final_quality(host: bpy.types.Object) -> Iterator[None]:
    """Has a host in final quality for a while, and then in its own again."""
    state = host.jounce
    own = state.quality if state.is_property_set("quality") else None
    try:
        state.quality = Quality.FINAL.value
        yield
    finally:
        if own is None:
            state.property_unset("quality")
        else:
            state.quality = own


def refuse_unlearnable(scene: BodyScene) -> None:
    """Refuses what a few displacements cannot hold."""
    if len(scene.surface.stitches):
        raise UserError(
            f"{scene.host.name} has stitches, which what is learnt cannot hold; take them off, or choose "
            "Final."
        )
