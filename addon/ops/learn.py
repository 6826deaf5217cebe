"""jounce.learn: reduces the final motion of a shot to a few displacements for live motion."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import bpy
import jounce
from bpy.props import BoolProperty

from ..bridge.body import bodies, builds
from ..bridge.body.bodies import BodyScene
from ..bridge.motions import learnt_store
from ..bridge.preview import previews
from ..bridge.preview.shot_learner import ShotLearner
from ..bridge.rig.armature_modifier import Warn
from ..core.body import built_bodies
from ..core.common.task import Step, Task, in_turn, scaled
from ..core.common.user_error import UserError
from ..core.flesh.settings import Quality
from ..core.shot.learnt import Learnt
from . import needs
from .operator import JounceOperator, LongOperator


class JOUNCE_OT_learn(LongOperator):
    """Learn the Final motion of this shot, for nearly the same motion live, at any stiffness"""

    bl_idname = "jounce.learn"
    bl_label = "Learn This Shot"
    bl_options = {"UNDO"}
    needs = (needs.flesh, needs.out_of_edit_mode)

    also: BoolProperty(
        name="Also",
        description="Learn this shot in addition to the known shots",
        options={"SKIP_SAVE"},
    )

    def task(self, context: bpy.types.Context) -> Task:
        """Learns one body after the other; keeps the results once all are finished."""
        hosts = bodies.hosts(context)
        parts = (learn_body(host, context, self.also, self.warn) for host in hosts)
        lessons_learnt = yield from in_turn(parts)
        return "; ".join(keep(lesson, context) for lesson in lessons_learnt)


class JOUNCE_OT_forget_learnt(JounceOperator):
    """Forget the learnt motion of the selected bodies, and show their final motion or their drafts"""

    bl_idname = "jounce.forget_learnt"
    bl_label = "Forget What Was Learnt"
    bl_options = {"UNDO"}
    needs = (needs.learnt,)

    def run(self, context: bpy.types.Context) -> str:
        """Deletes the learnt basis of one body after the other."""
        hosts = needs.learnt(context)
        for host in hosts:
            learnt_store.forget(host)
            if host.jounce.simulated_quality is Quality.LEARNT:
                host.jounce.property_unset("quality")
        return f"{', '.join(host.name for host in hosts)} forgot what was learnt."


@dataclass(frozen=True)
class Lesson:
    """The learnt basis of a body before it is kept. built_again: sentence about a build just made, else
    empty.
    """

    scene: BodyScene
    learnt: Learnt
    body: "jounce.Body"
    digest: str
    built_again: str


def keep(lesson: Lesson, context: bpy.types.Context) -> str:
    """Keeps the learnt basis with its host, sets the quality, and reports the error."""
    host, facts = lesson.scene.host, lesson.learnt.facts
    if lesson.digest != host.jounce.built_digest:
        builds.remember(lesson.scene, lesson.body, lesson.digest, lesson.built_again, context)
    learnt_store.keep(host, lesson.learnt)
    host.jounce.quality = Quality.LEARNT.value
    count = len(lesson.learnt.shapes)
    return (
        f"{host.name} has learnt {facts.clips[-1].name} in {count} displacements: {facts.error:.1%} from "
        f"Final, where the draft is {facts.draft_error:.0%} off"
    )


def learn_body(
    host: bpy.types.Object, context: bpy.types.Context, also: bool, warn: Warn
) -> Generator[Step, None, Lesson]:
    """Learns the shot of one body, together with others if `also`; the scene stays unchanged."""
    # Learning uses the final motion with its colliders. The temporary quality is not the artist's choice, and
    # previews must not follow.
    with previews.paused(), at_final_quality(host):
        scene = bodies.read(host, context, warn)
        refuse_unlearnable(scene)
        settings = host.jounce.build_settings()
        digest, built_again = scene.surface.digest(settings), ""
        if built_bodies.CACHE.get(digest) is None:
            built_again = yield from scaled(built_bodies.build(scene.surface, settings), 0.0, 0.1)
        body = built_bodies.CACHE.get(digest)
        learner = ShotLearner(scene, body, digest, context)
        others = learner.others(warn) if also else []
        found = yield from scaled(learner.learn(int(host.jounce.displacements), others), 0.1, 1.0)
        return Lesson(scene, found, body, digest, built_again)


@contextmanager
def at_final_quality(host: bpy.types.Object) -> Iterator[None]:
    """Sets a host to final quality for a while, and back."""
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
    """Refuses motion beyond a few displacements."""
    if len(scene.surface.stitches):
        raise UserError(
            f"{scene.host.name} has stitches, and learnt motion supports none; remove them, or choose Final."
        )
