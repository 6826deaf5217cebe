"""Fills the caches of touching loose bodies: separate caches, and a common simulation.

The pass of each body knows the drives of all bodies. Its frames are fresh while nothing changes for any of
them. Passes over the same bodies share one `Together`, which simulates each frame once.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import jounce
import numpy as np

from ..body.built_bodies import BodyCache
from ..body.colliders import Colliders
from ..body.loose import LooseBody
from ..common.user_error import UserError, passing_on
from ..stepping.motion import FrameInput
from ..storage.cache import MotionCache
from .loose_pass import LoosePass, Throw
from .simulation_pass import Start


@dataclass(frozen=True)
class Shapes:
    """Bodies in a frame. key: digest of the inputs up to the frame. each: coefficients (m, 3, 4) of each
    body. converged: False if a step to this frame has not converged.
    """

    key: bytes
    each: list[np.ndarray]
    converged: bool


@dataclass
class Run:
    """Simulations of all bodies, and the last simulated frame; -1 before the first."""

    simulations: "list[jounce.Simulation]"
    at: int = -1
    key: bytes = b""


@dataclass
class Together:
    """The requested frames of touching bodies.

    A frame's key is a digest of the inputs of all frames up to the frame. kept: states after some frames.
    """

    frames: dict[int, Shapes] = field(default_factory=dict)
    kept: "dict[int, tuple[bytes, list[jounce.State]]]" = field(default_factory=dict)
    _run: Run | None = None

    def frame(self, keys: Sequence[bytes], members: Sequence[LoosePass]) -> Shapes:
        """The shapes in the frame of the last key. members: passes with drives up to this frame."""
        index = len(keys) - 1
        known = self.frames.get(index)
        if known is not None and known.key == keys[-1]:
            return known
        run, self._run = self._run, None
        if run is None or keys[run.at : run.at + 1] != [run.key] or run.at >= index:
            run = self.approach(keys[:-1], members)
        self.play(run, keys, members)
        self._run = run
        return self.frames[index]

    def approach(self, keys: Sequence[bytes], members: Sequence[LoosePass]) -> Run:
        """Simulations at the nearest kept state up to the frame of the last key."""
        run = Run([member.fresh() for member in members])
        fitting = [at for at, (key, _) in self.kept.items() if keys[at : at + 1] == [key]]
        if fitting:
            run.at = max(fitting)
            run.key, states = self.kept[run.at]
            for simulation, state in zip(run.simulations, states, strict=True):
                simulation.restore_state(state)
        return run

    def play(self, run: Run, keys: Sequence[bytes], members: Sequence[LoosePass]) -> None:
        """Goes on to the frame of the last key."""
        for index in range(run.at + 1, len(keys)):
            with passing_on("Bodies that touch each other cannot be simulated"):
                converged = step(run.simulations, members, index)
            shapes = [simulation.coefficients for simulation in run.simulations]
            if not all(np.isfinite(each).all() for each in shapes):
                raise UserError("The motion grew beyond all bounds; raise Damping Ratio or Substeps.")
            run.at, run.key = index, keys[index]
            self.frames[index] = Shapes(run.key, shapes, converged)
            if index % MotionCache.frames_per_state == 0:
                self.kept[index] = run.key, [each.save_state() for each in run.simulations]


# Common motions of bodies, by the hash of all inputs except the drives.
TOGETHER: BodyCache[Together] = BodyCache(capacity=4)


def together(digest: str) -> Together:
    """The common motion of touching bodies."""
    known = TOGETHER.get(digest)
    if known is None:
        known = Together()
        TOGETHER.put(digest, known)
    return known


def step(simulations: "Sequence[jounce.Simulation]", members: Sequence[LoosePass], index: int) -> bool:
    """Steps all bodies to a frame; False if a step has not converged. Bodies that start there again have
    contact until then.
    """
    reports = []
    pairs = list(zip(members, simulations, strict=True))
    drives = [member.prepare(simulation, index) for member, simulation in pairs]
    if index > 0:
        reports = jounce.step_together(
            simulations,
            [drive.pose for drive in drives],
            forces=[drive.force for drive in drives],
            drags=[drive.drag for drive in drives],
            colliders=[drive.colliders for drive in drives],
        )
    for (member, simulation), drive in zip(pairs, drives, strict=True):
        if member.starts(index):
            member.start_anew(simulation, drive, index)
    return all(report.converged for report in reports)


class TouchingPass(LoosePass):
    """A pass over the frames of a loose body in contact with others."""

    def __init__(
        self,
        cache: MotionCache,
        start: Start,
        throw: Throw,
        body: LooseBody,
        colliders: Colliders | None,
        others: list[LoosePass],
        place: int,
        common: Together,
    ) -> None:
        """others: passes of the other bodies, for drives only. place: number of earlier bodies."""
        super().__init__(cache, start, throw, body, colliders)
        self._others = others
        self._members = [*others[:place], self, *others[place:]]
        self._place = place
        self._common = common
        self._keys: list[bytes] = []

    def _take(self, drive: FrameInput) -> None:
        super()._take(drive)
        for other, own in zip(self._others, drive.touching, strict=True):
            other._take(own)
        before = self._keys[-1] if self._keys else b""
        digests = (member.own_digest() for member in self._members)
        self._keys.append(hashlib.blake2b(b"".join([before, *digests]), digest_size=16).digest())

    def _simulate(self, index: int) -> None:
        digest = self._digest(index)
        if not self.simulated:
            if index < len(self.cache) and self.cache.digests[index] == digest:
                return
            self.cache.truncate(index)
        shapes = self._common.frame(self._keys, self._members)
        self.cache.append(digest, self._kept(index, shapes.each[self._place]))
        if not shapes.converged:
            self.cache.mark_rough()
        self.simulated += 1

    def simulation_at(self, index: int) -> "jounce.Simulation":
        """Simulation of any pass; from this frame on without contact with the others."""
        keys = self._keys[: index + 1]
        run = self._common.approach(keys, self._members)
        self._common.play(run, keys, self._members)
        simulation = run.simulations[self._place]
        self._vary(simulation, index)
        return simulation
