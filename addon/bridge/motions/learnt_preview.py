"""Learnt motion of a previewed body: as fast as its draft."""

from collections.abc import Iterator

import bpy
import numpy as np

from ...core.body.full_space import DraftError, FineBody, refuse_drive
from ...core.common.task import Step, Task
from ...core.common.user_error import UserError
from ...core.passes.simulation_pass import SimulationPass
from ...core.shot import learnt
from ...core.shot.learnt import Learnt
from ...core.stepping.motion import FrameInput, built_frequency, stiffness_of
from ...core.storage.cache import MotionCache
from ..body.bodies import BodyScene
from ..common.words import worded
from . import learnt_store
from .background_pass import BackgroundPass
from .motions import Motions

# Ratio of stiffness to the learnt flesh above which the motion differs.
FAR = 2.0
# Tolerated share of frames with poses unlike all learnt ones.
FEW = 0.05


class LearntPreview(BackgroundPass[MotionCache]):
    """A learnt pass behind a draft. unseen: number of frames unlike the learnt ones."""

    name = "Learnt"

    def __init__(self, made: Motions, scene: bpy.types.Scene, cache: MotionCache) -> None:
        super().__init__(made, scene, cache)
        self.unseen = 0
        self._compared = 0

    @property
    def by_hand(self) -> tuple[SimulationPass, FineBody] | None:
        """The learnt body, once ready."""
        return None if self._filling is None or self._trouble else (self._filling, self.fine)

    def _prepare(self) -> Task:
        made = self._motions
        yield Step(0.0, "preparing what was learnt")
        self.fine = prepared(made.body, made.scene.host.jounce.built_digest, made.scene)
        self._filling = made.learnt(self._scene, self._cache, self.fine.model)
        return ""

    def _refuse(self, drive: FrameInput) -> None:
        refuse_drive(drive, self._motions.scene.host.name)

    def _told(self) -> str:
        known = learnt_store.of(self._motions.scene.host)
        if known is None or self.error is None:
            return ""
        return ", " + worded("{error} from Final", error=f"{known.facts.error:.1%}")

    def _is_compared(self, wanted: int) -> bool:
        return self._compared == wanted

    def _compare(self, drives: list[FrameInput], _draft: MotionCache, wanted: int, _seconds: float) -> None:
        """Finds poses unlike the learnt ones; in a shot without changes the errors of the lesson hold."""
        self._compared = wanted
        known = learnt_store.of(self._motions.scene.host)
        poses = [drive.pose for drive in drives[:wanted] if not drive.held]
        if known is None or not poses:
            return
        self.unseen = int(learnt.unlike(self._motions.body, known, np.stack(poses)).sum())
        same = known.facts.origin == self._motions.lesson_origin(self._scene, self._cache.first)
        same = same and known.facts.loads == learnt.loads_of(drives[:wanted])
        if same and self.unseen <= FEW * len(poses):
            self.error = DraftError(known.facts.error, known.apart.astype(np.float64))

    def warnings(self) -> Iterator[str]:
        """Reasons for a large error, a sentence each; learning again removes them."""
        known = learnt_store.of(self._motions.scene.host)
        if self.fine is None and self._trouble:
            yield self._trouble
        if known is None or self._trouble:
            return
        if self.unseen > FEW * self._compared:
            yield f"In {self.unseen} of {self._compared} frames the pose is unlike any that was learnt."
        state, facts = self._motions.scene.host.jounce, known.facts
        if self._motions.scene.colliders.colliders is not None and not facts.collided:
            yield "No learnt shot had collisions, so the flesh dents as little as its motion did."
        ratio = stiffness_now(self._motions) / facts.stiffness
        if ratio > FAR or ratio < 1.0 / FAR:
            share = f"{ratio:.2g}" if ratio >= 0.1 else f"{ratio:.1g}"
            yield f"The flesh is {share} times as stiff as in the learnt motion."
        flesh = state.flesh()
        now = (flesh.law.value, flesh.curve_digest, flesh.poisson, flesh.hardening)
        if now != (facts.law, facts.curve, facts.poisson, facts.hardening):
            yield "The law, its volume preservation or its hardening differs from the lesson."


def stiffness_now(made: Motions) -> float:
    """The factor on a body's elastic energy by its present settings."""
    settings = made.scene.host.jounce.motion_settings()
    return stiffness_of(built_frequency(made.body, settings.frequency_of), settings)


def prepared(body: "learnt.jounce.Body", digest: str, scene: BodyScene) -> FineBody:
    """A body in its learnt basis. digest: of the inputs of the build."""
    known = usable(body, scene)
    return learnt.prepared(body, digest, known, scene.host.jounce.flesh())


def usable(body: "learnt.jounce.Body", scene: BodyScene) -> Learnt:
    """The learnt basis of a body, refused if it belongs to another body."""
    host = scene.host
    known = learnt_store.of(host)
    if known is None:
        kept = "cannot be read any more" if host.jounce.learnt_digest else "is nothing yet"
        raise UserError(f"What {host.name} has learnt {kept}; press Learn This Shot.")
    if len(scene.surface.stitches):
        raise UserError(
            f"{host.name} has stitches, and learnt motion supports none; remove them, or choose Final."
        )
    other = known.difference(body)
    if other:
        raise UserError(f"{host.name} has another {other} than in its learnt motion; press Learn Again.")
    return known


def restarted(before: BackgroundPass | None, made: Motions, scene: bpy.types.Scene) -> LearntPreview:
    """A pass with the present settings, which keeps all valid frames."""
    cache = made.learnt_cache(scene, scene.frame_start)
    if isinstance(before, LearntPreview) and before.cache.origin == cache.origin:
        cache = before.cache
    return LearntPreview(made, scene, cache)
