"""Fills a cache: one pass over the drives from the first frame on.

As long as the drives are those the cache was made from, its frames stand. From the first other one on they
are simulated anew, from the nearest state that was kept, so that any frame has the same bits however it was
reached.
"""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable
from dataclasses import replace

import jounce
import numpy as np

from .cache import MotionCache
from .colliders import Colliders
from .motion import (
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
)
from .settings import RestartMode
from .task import POLL_SECONDS, Step
from .user_error import UserError

Start = Callable[..., "jounce.Simulation"]


class SimulationPass:
    """A pass over the frames of a cache, which are counted from the first one."""

    # Whether the motion goes on in real time while the body is moved by hand.
    follows_hand = True

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
        """start: makes a simulation that has not started, among colliders where there are any.

        is_final: of every vertex, and not of modes. reduce: where it is of displacements, forces at vertices
        to those on them.
        """
        self.cache = cache
        # Whose motion this is where all of it is given, so that nothing is simulated; empty otherwise.
        self.given = ""
        # How many frames were not in the cache.
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
        """How many frames are cached and known to be fresh."""
        return min(len(self.drives), len(self.cache))

    @property
    def progress(self) -> float:
        """How far the pass is, in frames."""
        return self.checked

    @property
    def closing(self) -> bool:
        """Whether a loop is still open, so that no frame is known for longer than an artist would wait."""
        return False

    @property
    def teleports(self) -> list[int]:
        """The frames at which the body was found to teleport."""
        return self._teleports.frames

    def held(self) -> str:
        """In which of the frames whose drives are known the flesh holds, and why; empty without one."""
        return held_sentence(self.drives, self.cache.first)

    @property
    def course(self) -> Schedule:
        """How the motion begins, and where it begins anew."""
        return self._course

    def agrees(self, index: int, drive: FrameInput) -> bool:
        """Whether a frame was driven by this, up to the offsets."""
        return 0 <= index < len(self.drives) and self.drives[index].agrees(drive)

    def fresh(self) -> "jounce.Simulation":
        """A simulation that has not started."""
        if self._colliders is None:
            return self._start()
        made, skin = self._colliders.made(self.drives[0].around), self._colliders.skin
        return self._start(colliders=made, skin=skin)

    def needed(self, index: int) -> int:
        """How many drives have to be known before a frame can be."""
        return index + 1

    def remembers(self, index: int, drive: FrameInput) -> bool:
        """Whether the cache holds a frame with this drive, though the frames before it may have changed."""
        return index < len(self.cache) and self.cache.digests[index] == self.felt(drive).digest()

    def feed(self, drive: FrameInput) -> None:
        """Takes the drive of the next frame, and has it simulated if the cache does not hold it."""
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
                raise UserError(f"{self.given} is driven otherwise from frame {frame} on; simulate it again.")
            self._recorder = self._recorder_before(index)
        self._play(self._recorder.job, (index,))
        self._recorder.job.keep(state=index % self.cache.frames_per_state == 0)
        self._asked.append((index, digest))
        self.simulated += 1

    def _digest(self, index: int) -> bytes:
        """16 bytes that are the same as long as what a frame was simulated from is."""
        return self.felt(self.drives[index]).digest()

    def felt(self, drive: FrameInput) -> FrameInput:
        """What of a drive is simulated."""
        own = self._felt(drive)
        return own if self._colliders is not None else replace(own, colliders=None)

    def _felt(self, drive: FrameInput) -> FrameInput:
        """The same, colliders aside."""
        if self._reduce is not None:
            return drive.of_displacements(self._reduce)
        return drive.of_vertices() if self._is_final else drive.of_modes()

    def _native(self, index: int) -> FrameInput:
        """The drive of a frame as the native module takes it."""
        return self.native(self.drives[index], self.cache.first + index)

    def native(self, drive: FrameInput, frame: int) -> FrameInput:
        """What of a drive is simulated, in a frame, as the native module takes it."""
        felt = self.felt(drive)
        if self._colliders is None:
            return felt
        return replace(felt, colliders=self._colliders.places(self.drives[0].around, felt.around, frame))

    def _begin(self, target: Target, drive: FrameInput) -> None:
        begin(target, drive, self._course)

    def collect(self, wait: bool = False) -> int:
        """Takes what has been simulated into the cache, all of it if it is to wait; how many frames."""
        done = [] if self._recorder is None else self._recorder.take(wait)
        for coefficients, state in done:
            index, digest = self._asked.popleft()
            self.cache.append(digest, self._kept(index, coefficients))
            if state is not None:
                self.cache.keep_state(index, state)
        return len(done)

    def _kept(self, index: int, coefficients: np.ndarray) -> np.ndarray:
        """What of the coefficients of a frame is shown."""
        return self.shown(self.drives[index].pose, coefficients)

    def shown(self, _pose: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
        """What of coefficients is shown where a pose (b, 3, 4) has the body."""
        return coefficients

    def caught_up(self) -> Generator[Step, None, None]:
        """Waits until all frames whose drives are known are simulated."""
        waiting = len(self._asked)
        while self._asked:
            if not self.collect():
                time.sleep(POLL_SECONDS)
            yield Step(1.0 - len(self._asked) / waiting, "Simulating")

    def motion(self) -> Motion:
        """The motion over all frames whose drives are known, once they are simulated."""
        self.collect(wait=True)
        frames = self.cache.coefficients[: len(self.drives)]
        return motion_of(self.drives, np.stack(frames, dtype=np.float64), self.teleports)

    def simulation_at(self, index: int) -> "jounce.Simulation":
        """A simulation in the state after a frame whose drive is known."""
        simulation, ahead = self._approach(index)
        self._play(simulation, ahead)
        return simulation

    def close(self) -> None:
        """Stops simulating; what is cached stays."""
        if self._recorder is not None:
            self._recorder.job.cancel()

    def _recorder_before(self, index: int) -> Recorder:
        """A recorder that stands before a frame, at which the cache ends from now on."""
        self.cache.truncate(index)
        simulation, ahead = self._approach(index - 1)
        recorder = Recorder(simulation)
        self._play(recorder.job, ahead)
        return recorder

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
                # From wherever the flesh was held it goes on as it was.
                enter(target, drive, RestartMode.KEPT)
            else:
                is_first = all(earlier.held for earlier in self.drives[: index - 1])
                advance(target, drive, self._course, index in self.teleports, is_first_step=is_first)
