"""Fills a cache: one pass over the drives from the first frame on.

Cached frames are valid while their drives are unchanged. From the first changed drive on, frames are
simulated again from the nearest kept state. The bits of a frame do not depend on the order of requests.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from dataclasses import replace

import jounce
import numpy as np

from ..body.colliders import Colliders
from ..body.full_space import Coordinates
from ..common.task import POLL_SECONDS, Step
from ..common.user_error import UserError
from ..flesh.settings import RestartMode
from ..stepping.motion import (
    FrameInput,
    Motion,
    Recorder,
    Reduce,
    Schedule,
    Target,
    advance,
    begin,
    enter,
    held_sentence,
    motion_of,
    rough_sentence,
)
from ..storage.cache import MotionCache

Start = Callable[..., "jounce.Simulation"]


class SimulationPass:
    """A pass over the frames of a cache, counted from the first one."""

    # True if the motion continues in real time while the user moves the body.
    follows_hand = True
    # Owner of the coefficients.
    owner: Coordinates

    def __init__(
        self,
        cache: MotionCache,
        start: Start,
        course: Schedule,
        colliders: Colliders | None = None,
        *,
        is_final: bool = False,
        reduce: Reduce | None = None,
    ) -> None:
        """start: makes a simulation before its start, with the colliders if there are any.

        is_final: every vertex instead of modes. reduce: for learnt displacements, from forces at vertices to
        generalised ones.
        """
        self.cache = cache
        # Owner of a complete given motion, without simulation; otherwise empty.
        self.given = ""
        # Reason why poses may differ from those of a given motion; empty without any.
        self.remark = ""
        # Number of simulated frames, not from the cache.
        self.simulated = 0
        self.drives: list[FrameInput] = []
        self._start = start
        self._course = course
        self._colliders = colliders
        self._is_final = is_final
        self._reduce = reduce
        self._teleports = course.teleports()
        self._recorder: Recorder | None = None
        self._asked: deque[tuple[int, bytes]] = deque()

    @property
    def checked(self) -> int:
        """Number of cached and verified frames."""
        return min(len(self.drives), len(self.cache))

    @property
    def progress(self) -> float:
        """Progress of the pass, in frames."""
        return self.checked

    @property
    def closing(self) -> bool:
        """True while a loop is open, when frames are missing for longer than an artist would wait."""
        return False

    @property
    def teleports(self) -> list[int]:
        """The frames with a detected teleport."""
        return self._teleports.frames

    def held(self) -> str:
        """Frames with held flesh among the known drives, and the reason; empty without any."""
        return held_sentence(self.drives, self.cache.first)

    def rough(self) -> str:
        """Checked frames that have not converged, and the remedy; empty without any."""
        return rough_sentence([self.cache.first + row for row in self.cache.rough if row < self.checked])

    @property
    def course(self) -> Schedule:
        """Starts of the motion, at the beginning and after cuts."""
        return self._course

    @property
    def colliding(self) -> list[str]:
        """Names of the colliders, in order."""
        return [] if self._colliders is None else [solid.name for solid in self._colliders.solids]

    def agrees(self, index: int, drive: FrameInput) -> bool:
        """True if a frame had this drive, up to the offsets."""
        return 0 <= index < len(self.drives) and self.drives[index].agrees(drive)

    def fresh(self) -> "jounce.Simulation":
        """A simulation before its start."""
        if self._colliders is None:
            return self._start()
        made, skin = self._colliders.made(self.drives[0].around), self._colliders.skin
        return self._start(colliders=made, skin=skin)

    def needed(self, index: int) -> int:
        """Number of drives needed for a frame."""
        return index + 1

    def remembers(self, index: int, drive: FrameInput) -> bool:
        """True if the cache has a frame with this drive, even if the frames before may have changed."""
        return index < len(self.cache) and self.cache.digests[index] == self.felt(drive).digest()

    def feed(self, drive: FrameInput) -> None:
        """Takes the drive of the next frame, and starts its simulation unless cached."""
        self._take(drive)
        self._simulate(len(self.drives) - 1)

    def _take(self, drive: FrameInput) -> None:
        self.drives.append(drive)
        self._teleports.follow(None if drive.held else drive.pose, drive.spots, drive.switches)

    def _simulate(self, index: int) -> None:
        digest = self._digest(index)
        if self._recorder is None:
            if index < len(self.cache) and self.cache.digests[index] == digest:
                return
            if self.given:
                frame = self.cache.first + index
                driven = f"{self.given} is driven otherwise from frame {frame} on{self.remark}"
                raise UserError(f"{driven}; simulate it again.")
            self._recorder = self._recorder_before(index)
        self._play(self._recorder.job, (index,))
        self._recorder.job.keep(state=index % self.cache.frames_per_state == 0)
        self._asked.append((index, digest))
        self.simulated += 1

    def _digest(self, index: int) -> bytes:
        """Digest of 16 bytes of a frame's inputs."""
        return self.felt(self.drives[index]).digest()

    def felt(self, drive: FrameInput) -> FrameInput:
        """The simulated part of a drive."""
        own = self._felt(drive)
        return own if self._colliders is not None else replace(own, colliders=None)

    def _felt(self, drive: FrameInput) -> FrameInput:
        """The same, colliders aside."""
        if self._reduce is not None:
            return drive.of_displacements(self._reduce)
        return drive.of_vertices() if self._is_final else drive.of_modes()

    def _native(self, index: int) -> FrameInput:
        """The drive of a frame in the native module's form."""
        return self.native(self.drives[index], self.cache.first + index)

    def native(self, drive: FrameInput, frame: int) -> FrameInput:
        """The simulated part of a drive in a frame, in the native module's form."""
        felt = self.felt(drive)
        if self._colliders is None:
            return felt
        return replace(felt, colliders=self._colliders.places(self.drives[0].around, felt.around, frame))

    def _begin(self, target: Target, drive: FrameInput) -> None:
        begin(target, drive, self._course)

    def collect(self, wait: bool = False) -> int:
        """Takes the simulated frames into the cache, with `wait` all of them; returns their number."""
        done = [] if self._recorder is None else self._recorder.take(wait)
        for coefficients, state, converged in done:
            index, digest = self._asked.popleft()
            self.cache.append(digest, self._kept(index, coefficients))
            if self._is_final and not converged:
                self.cache.mark_rough()
            if state is not None:
                self.cache.keep_state(index, state)
        return len(done)

    def _kept(self, index: int, coefficients: np.ndarray) -> np.ndarray:
        """The displayed coefficients of a frame, with the drive of the last one without a hold."""
        at_rest = np.tile(np.eye(3, 4), (len(self.drives[index].pose), 1, 1))
        followed = (drive for drive in self.drives[index::-1] if not drive.held)
        return self.shown(next(followed, FrameInput(at_rest, 1.0)), coefficients)

    def shown(self, _drive: FrameInput, coefficients: np.ndarray) -> np.ndarray:
        """The displayed coefficients of a body in a frame with this drive."""
        return coefficients

    def caught_up(self) -> Generator[Step, None, None]:
        """Waits until all frames with known drives are simulated."""
        waiting = len(self._asked)
        while self._asked:
            if not self.collect():
                time.sleep(POLL_SECONDS)
            yield Step(1.0 - len(self._asked) / waiting, "Simulating")

    def motion(self) -> Motion:
        """The motion over all frames with known drives, once simulated."""
        self.collect(wait=True)
        frames = self.cache.coefficients[: len(self.drives)]
        return motion_of(self.drives, np.stack(frames, dtype=np.float64), self.teleports)

    def simulation_at(self, index: int) -> "jounce.Simulation":
        """A simulation in the state after a frame with a known drive."""
        simulation, ahead = self._approach(index)
        self._play(simulation, ahead)
        return simulation

    def measured(self, index: int) -> "tuple[jounce.StepReport, float]":
        """The step to a frame with a known drive, simulated again: report and seconds."""
        frame = self.cache.first + index
        pair = self.drives[max(0, index - 1) : index + 1]
        if len(pair) < 2 or any(drive.held for drive in pair):
            raise UserError(f"No step leads to frame {frame}; show a later frame.")
        if pair[1].cut or index in self.teleports:
            raise UserError(f"The motion starts anew in frame {frame}; show a later frame.")
        simulation, drive = self.simulation_at(index - 1), self._native(index)
        drive.set_up(simulation)
        start = time.perf_counter()
        report = simulation.step(drive.pose, drive.force, drive.offsets, drive.drag, drive.colliders)
        return report, time.perf_counter() - start

    def close(self) -> None:
        """Stops the simulation; cached frames stay."""
        if self._recorder is not None:
            self._recorder.job.cancel()

    def _recorder_before(self, index: int) -> Recorder:
        """A recorder before a frame, where the cache is cut off."""
        self.cache.truncate(index)
        simulation, ahead = self._approach(index - 1)
        recorder = Recorder(self._job(simulation))
        self._play(recorder.job, ahead)
        return recorder

    def _job(self, simulation: "jounce.Simulation") -> "jounce.MotionJob":
        """The steps of a simulation in the background."""
        return jounce.MotionJob(simulation)

    def _approach(self, index: int) -> "tuple[jounce.Simulation, range]":
        """A simulation at the nearest state up to a frame, and the frames to be played to get there."""
        simulation = self.fresh()
        states = self.cache.states
        nearest = max((kept for kept in states if kept <= index), default=-1)
        if nearest >= 0:
            simulation.restore_state(states[nearest])
        return simulation, range(nearest + 1, index + 1)

    def _play(self, target: Target, indices: Iterable[int]) -> None:
        for index in indices:
            drive, before = self._native(index), self.drives[max(0, index - 1)]
            if drive.held:
                if index == 0:
                    target.reset(np.tile(np.eye(3, 4), (len(drive.pose), 1, 1)))
            elif all(earlier.held for earlier in self.drives[:index]):
                self._begin(target, drive)
            elif before.held:
                # The motion continues from the held place without a new start.
                enter(target, drive, RestartMode.KEPT)
            else:
                is_first = all(earlier.held for earlier in self.drives[: index - 1])
                advance(target, drive, self._course, index in self.teleports, is_first_step=is_first)
