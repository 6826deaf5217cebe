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
    needs = (needs.own_bodies, needs.out_of_edit_mode)

    also: BoolProperty(
        name="Also",
        description="Learn this shot beside those that are known already",
        options={"SKIP_SAVE"},
    )

    unlimited: BoolProperty(
        name="Without Limits",
        description="Switch Maximum Stretch and Maximum Displacement off, which what is learnt does not obey",
        options={"SKIP_SAVE"},
    )

    def task(self, context: bpy.types.Context) -> Task:
        """One body after the other; what they have learnt is kept once all have."""
        hosts = bodies.hosts(context)
        wanted = Wanted(self.also, self.unlimited)
        parts = (learn_body(host, context, wanted, self.warn) for host in hosts)
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
class Wanted:
    """also: whether other shots stay known. unlimited: whether the limits are switched off."""

    also: bool = False
    unlimited: bool = False

    @property
    def settings(self) -> dict[str, object]:
        """The settings of the host with which its final motion is simulated."""
        free = {"use_stretch": False, "use_limit": False} if self.unlimited else {}
        return {"quality": Quality.FINAL.value} | free


@dataclass(frozen=True)
class Lesson:
    """What a body has learnt, not kept yet. built_again: what a build just made, empty without one."""

    host: bpy.types.Object
    wanted: Wanted
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
    for name, value in (lesson.wanted.settings | {"quality": Quality.LEARNT.value}).items():
        setattr(host.jounce, name, value)
    count = len(lesson.learnt.shapes)
    return (
        f"{host.name} has learnt {facts.clips[-1].name} in {count} displacements: {facts.error:.1%} from "
        f"Final, where the draft is {facts.draft_error:.0%} off"
    )


def learn_body(
    host: bpy.types.Object, context: bpy.types.Context, wanted: Wanted, warn: Warn
) -> Generator[Step, None, Lesson]:
    """Learns the shot of one body; the scene stays as it is."""
    # What is learnt is the final motion as its settings make it, with what it collides with. These settings
    # are not the artist's, and nothing for the preview to follow.
    with previews.paused(), kept_settings(host, wanted.settings):
        scene = bodies.read(host, context, warn)
        refuse_unlearnable(scene)
        settings = host.jounce.build_settings()
        digest, built_again = scene.surface.digest(settings), ""
        if built.CACHE.get(digest) is None:
            built_again = yield from scaled(built.build(scene.surface, settings), 0.0, 0.1)
        body = built.CACHE.get(digest)
        pupil = Pupil(scene, body, digest, context)
        others = pupil.others(warn) if wanted.also else []
        found = yield from scaled(pupil.learn(int(host.jounce.displacements), others), 0.1, 1.0)
        return Lesson(host, wanted, found, body, digest, built_again)


@contextmanager
def kept_settings(host: bpy.types.Object, others: dict[str, object]) -> Iterator[None]:
    """Gives a host other settings for a while, and then its own again."""
    state = host.jounce
    own = {name: getattr(state, name) if state.is_property_set(name) else None for name in others}
    try:
        for name, value in others.items():
            setattr(state, name, value)
        yield
    finally:
        for name, value in own.items():
            if value is None:
                state.property_unset(name)
            else:
                setattr(state, name, value)


def refuse_unlearnable(scene: BodyScene) -> None:
    """Refuses what a few displacements cannot hold."""
    if len(scene.surface.stitches):
        raise UserError(
            f"{scene.host.name} has stitches, which what is learnt cannot hold; take them off, or choose "
            "Final."
        )
