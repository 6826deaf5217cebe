"""Learns a shot of a body from its final motion, simulated first if missing."""

from collections.abc import Callable, Generator
from contextlib import ExitStack, closing

import bpy
import jounce
import numpy as np

from ...core.body import full_space
from ...core.body.full_space import DraftError, FineBody, compared, refuse_drive
from ...core.common.task import Step, in_turn, scaled
from ...core.common.user_error import UserError
from ...core.shot import learning, learnt
from ...core.shot.learning import Bounds, Shot
from ...core.shot.learnt import Clip, Facts, Learnt
from ...core.stepping.motion import FrameInput
from ...core.storage.cache import MotionCache
from ..body.bodies import BodyScene
from ..inputs import played_actions
from ..motions import learnt_store
from ..motions.learnt_preview import stiffness_now
from ..motions.motions import Motions
from ..rig.armature_modifier import Warn
from . import frame_readings, previews

Frames = list[np.ndarray]


class ShotLearner:
    """A built body and the frames of its scene, for learning the final motion."""

    def __init__(
        self, scene: BodyScene, body: "jounce.Body", digest: str, context: bpy.types.Context
    ) -> None:
        """digest: of the inputs of the build."""
        state = scene.host.jounce
        self._body, self._digest, self._context = body, digest, context
        self._scene = context.scene
        self._host = scene.host
        self._flesh = state.flesh()
        self._muscles = scene.muscles
        # Limits that are off may be switched on later.
        self._bounds = Bounds(state.limit / 100.0, state.stretch / 100.0)
        self._made = Motions(body, scene, of_modes=True)
        self._name = played_actions.now(scene.host).names or context.scene.name
        self._drives: list[FrameInput] = []

    def others(self, warn: Warn) -> list[tuple[str, Shot]]:
        """The other learnt shots; all are dropped if the body has changed."""
        known = learnt_store.of(self._host)
        if known is None:
            return []
        other = known.difference(self._body)
        if other:
            warn(f"{self._host.name} has another {other} than in its lesson, so other shots are forgotten.")
            return []
        return [(name, shot) for name, shot in known.shots() if name != self._name]

    def learn(self, count: int, others: list[tuple[str, Shot]]) -> Generator[Step, None, Learnt]:
        """Learns the shot together with others, in at most this number of displacements."""
        preparing = full_space.prepared(self._body, self._digest, self._flesh, self._muscles)
        full = yield from scaled(preparing, 0.0, 0.05)
        final, draft = yield from scaled(self._simulated(full), 0.05, 0.7)
        shot = self._shot(final)
        found = yield from scaled(self._found([*others, (self._name, shot)], count, full), 0.7, 0.8)
        fine = learnt.prepared(self._body, self._digest, found, self._flesh)
        error = yield from scaled(self._error(fine, final, full), 0.8, 0.88)
        draft_error = yield from scaled(compared(draft, self._body, self._followed(final), full), 0.88, 0.9)
        held_out = yield from scaled(self._held_out(others, shot, final, count, full), 0.9, 1.0)
        return found.told(error.apart, error.share, draft_error.share, held_out)

    def _simulated(self, full: FineBody) -> Generator[Step, None, tuple[Frames, Frames]]:
        """The final motion of the shot, and its draft, without held frames."""
        scene, made = self._scene, self._made
        first = scene.frame_start
        with previews.without_finals([self._host]), ExitStack() as stack:
            final = made.final(scene, made.final_cache(scene, first), full.model)
            draft = made.filling(scene, made.cache(scene, first))
            for filling in (final, draft):
                stack.enter_context(closing(filling))
            yield from scaled(self._read([final.feed, draft.feed]), 0.0, 0.3)
            yield from scaled(in_turn([draft.caught_up(), final.caught_up()]), 0.3, 1.0)
            frames = len(self._drives)
            return list(final.cache.coefficients[:frames]), self._followed(draft.cache.coefficients)

    def _read(self, takers: list[Callable[[FrameInput], None]]) -> Generator[Step, None, None]:
        """Passes the drive of each frame to several passes."""

        def take(drive: FrameInput) -> None:
            refuse_drive(drive, self._host.name)
            self._drives.append(drive)
            for taker in takers:
                taker(drive)

        steps = range(self._scene.frame_start, self._scene.frame_end + 1)
        yield from frame_readings.over([(self._made.scene, self._body, take)], steps, self._context)

    def _followed(self, frames: Frames) -> Frames:
        """The frames without holds."""
        return [frames[row] for row, drive in enumerate(self._drives) if not drive.held]

    def _shot(self, final: Frames) -> Shot:
        """The final motion in the frames without holds."""
        poses = [drive.pose for drive in self._drives if not drive.held]
        if not poses:
            raise UserError(f"No frame can be followed: {self._drives[0].held}.")
        shot = Shot(np.stack(poses), np.stack(self._followed(final)).astype(np.float64))
        learning.refuse_still(self._body, shot, self._host.name)
        return shot

    def _learned(self, shot: Shot, count: int, full: FineBody) -> "Generator[Step, None, jounce.Model]":
        material = full_space.material(self._body, self._flesh)
        return learning.learned(self._body, shot, count, material, full.model.frequency, self._bounds)

    def _found(
        self, shots: list[tuple[str, Shot]], count: int, full: FineBody
    ) -> Generator[Step, None, Learnt]:
        """The learnt basis of some shots, before its errors are measured."""
        known = learning.thinned(shots)
        everything = learning.joined([shot for _, shot in known])
        model = yield from self._learned(everything, count, full)
        clips = tuple(Clip(name, len(shot)) for name, shot in known)
        facts = Facts(
            clips=clips,
            law=self._flesh.law.value,
            poisson=self._flesh.poisson,
            hardening=self._flesh.hardening,
            curve=self._flesh.curve_digest,
            stiffness=stiffness_now(self._made),
            frequency=full.model.frequency,
            loads=learnt.loads_of(self._drives),
            collided=self._collided(shots),
            origin=self._made.lesson_origin(self._scene, self._scene.frame_start),
        )
        return learnt.of_model(self._body, model, everything, facts)

    def _collided(self, shots: list[tuple[str, Shot]]) -> bool:
        """True if the flesh collides in this shot, or collided in another one of these."""
        known = learnt_store.of(self._host)
        before = len(shots) > 1 and known is not None and known.facts.collided
        return before or self._made.scene.colliders.colliders is not None

    def _motion(self, model: "jounce.Model") -> Generator[Step, None, Frames]:
        """The shot in the learnt basis, without held frames."""
        scene = self._scene
        cache = MotionCache({}, scene.frame_start)
        with closing(self._made.learnt(scene, cache, model)) as filling:
            for drive in self._drives:
                filling.feed(drive)
            yield from filling.caught_up()
            return self._followed(cache.coefficients)

    def _error(self, fine: FineBody, final: Frames, full: FineBody) -> Generator[Step, None, DraftError]:
        """Error of the learnt motion against the final motion."""
        motion = yield from scaled(self._motion(fine.model), 0.0, 0.5)
        return (yield from scaled(compared(motion, fine, self._followed(final), full), 0.5, 1.0))

    def _held_out(
        self, others: list[tuple[str, Shot]], shot: Shot, final: Frames, count: int, full: FineBody
    ) -> Generator[Step, None, float | None]:
        """The error in held-out frames of the shot; None with too few frames."""
        out = learning.left_out(len(shot))
        if not out:
            return None
        rest = shot.at(np.setdiff1d(np.arange(len(shot)), out))
        known = learning.thinned([*others, (self._name, rest)])
        joined = learning.joined([each for _, each in known])
        model = yield from scaled(self._learned(joined, count, full), 0.0, 0.6)
        motion = yield from scaled(self._motion(model), 0.6, 0.9)
        followed, fine = self._followed(final), FineBody(model, self._body.embedding)
        pair = [motion[row] for row in out], [followed[row] for row in out]
        return (yield from scaled(compared(pair[0], fine, pair[1], full), 0.9, 1.0)).share
