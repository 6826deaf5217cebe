"""Long work in small steps, so that it can run to its end at once or a little at a time between redraws.

A task is a generator: it yields a `Step` wherever it may be interrupted and returns a sentence about what it
did. Closing it early raises `GeneratorExit` inside, and its `finally` blocks put everything back.
"""

import time
from collections.abc import Callable, Generator, Iterable
from typing import NamedTuple, Protocol, TypeVar

# How long a task waits for work on another thread before it looks again.
POLL_SECONDS = 0.005
# Before so much of a task is done in so many seconds, nobody knows how long the rest takes.
TOLD_SECONDS, TOLD_FRACTION = 2.0, 0.02


class Step(NamedTuple):
    """How far a task is: the fraction done in [0, 1], and what it is doing."""

    fraction: float
    stage: str


Result = TypeVar("Result")
Made = TypeVar("Made", covariant=True)
Task = Generator[Step, None, str]


def scaled(task: Generator[Step, None, Result], start: float, end: float) -> Generator[Step, None, Result]:
    """The same task, with its fractions mapped to [start, end], as a part of a longer one."""
    try:
        while True:
            step = next(task)
            yield Step(start + (end - start) * step.fraction, step.stage)
    except StopIteration as stop:
        return stop.value
    finally:
        task.close()


def in_turn(tasks: Iterable[Generator[Step, None, Result]]) -> Generator[Step, None, list[Result]]:
    """Tasks one after the other, each with an equal part of the progress; what they return."""
    waiting, results = list(tasks), []
    for index, task in enumerate(waiting):
        part = scaled(task, index / len(waiting), (index + 1) / len(waiting))
        results.append((yield from part))
    return results


class Working(Protocol):
    """Work of the native module on a thread of its own."""

    @property
    def progress(self) -> float:
        """The fraction done, in [0, 1]."""

    @property
    def done(self) -> bool:
        """Whether its result is there, or what it refuses is known."""


class Job(Working, Protocol[Made]):
    """Work that says what it is doing, and makes one thing."""

    @property
    def stage(self) -> str:
        """What it is doing."""

    def cancel(self) -> None:
        """Stops it soon."""

    def result(self) -> Made:
        """What it made."""


def finished(job: Job[Made], doing: str) -> Generator[Step, None, Made]:
    """Waits for a job, and stops it where the task is stopped."""
    try:
        yield from until_done(job, lambda: f"{doing}: {job.stage}")
    finally:
        job.cancel()
    return job.result()


def until_done(job: Working, stage: Callable[[], str]) -> Generator[Step, None, None]:
    """Waits for work on another thread. stage: says what it is doing."""
    while not job.done:
        yield Step(job.progress, stage())
        time.sleep(POLL_SECONDS)


def time_left(elapsed: float, fraction: float) -> str:
    """The time that is left of a task, for the end of a line; empty while that is not known."""
    if elapsed < TOLD_SECONDS or not TOLD_FRACTION <= fraction < 1.0:
        return ""
    seconds = elapsed * (1.0 - fraction) / fraction
    return f", about {seconds:.0f} s left" if seconds < 90.0 else f", about {seconds / 60.0:.0f} min left"


class Runner:
    """Drives a task and keeps what it said last."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self.step = Step(0.0, "")
        self.message = ""

    def run(self, seconds: float) -> bool:
        """Works for about that long, at least one step; True once the task is finished."""
        # Not time.monotonic, which Windows moves on only 64 times a second.
        deadline = time.perf_counter() + seconds
        while True:
            try:
                self.step = next(self._task)
            except StopIteration as stop:
                self.message = stop.value
                return True
            if time.perf_counter() >= deadline:
                return False

    def cancel(self) -> None:
        """Stops the task where it is and lets it put everything back."""
        self._task.close()
