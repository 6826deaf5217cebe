"""Long work in small steps, run to the end at once or in slices between redraws.

A task is a generator: each `Step` is a point of interruption, and the return value is a sentence about the
result. Closing a task early raises `GeneratorExit` inside, and its `finally` blocks restore everything.
"""

import time
from collections.abc import Callable, Generator, Iterable
from typing import NamedTuple, Protocol, TypeVar

# Seconds between two looks at work on another thread.
POLL_SECONDS = 0.005
# Progress in seconds and as a share before which the remaining time is unknown.
TOLD_SECONDS, TOLD_FRACTION = 2.0, 0.02


class Step(NamedTuple):
    """Progress of a task: the fraction done in [0, 1], and the current stage."""

    fraction: float
    stage: str


Result = TypeVar("Result")
Made = TypeVar("Made", covariant=True)
Task = Generator[Step, None, str]


def scaled(task: Generator[Step, None, Result], start: float, end: float) -> Generator[Step, None, Result]:
    """The same task with fractions mapped to [start, end], as a part of a longer one."""
    try:
        while True:
            step = next(task)
            yield Step(start + (end - start) * step.fraction, step.stage)
    except StopIteration as stop:
        return stop.value
    finally:
        task.close()


def at_once(task: Generator[Step, None, Result]) -> Result:
    """Runs a task to its end; the result."""
    while True:
        try:
            next(task)
        except StopIteration as stop:
            return stop.value


def in_turn(tasks: Iterable[Generator[Step, None, Result]]) -> Generator[Step, None, list[Result]]:
    """Tasks in sequence with equal parts of the progress; returns their results."""
    waiting, results = list(tasks), []
    for index, task in enumerate(waiting):
        part = scaled(task, index / len(waiting), (index + 1) / len(waiting))
        results.append((yield from part))
    return results


class Working(Protocol):
    """Work of the native module on its own thread."""

    @property
    def progress(self) -> float:
        """The fraction done, in [0, 1]."""

    @property
    def done(self) -> bool:
        """True if the result or the refusal is available."""


class Job(Working, Protocol[Made]):
    """Work with a named stage and one result."""

    @property
    def stage(self) -> str:
        """The current stage."""

    def cancel(self) -> None:
        """Requests an early stop."""

    def result(self) -> Made:
        """The result."""


def finished(job: Job[Made], doing: str) -> Generator[Step, None, Made]:
    """Waits for a job, and stops the job together with the task."""
    try:
        yield from until_done(job, lambda: f"{doing}: {job.stage}")
    finally:
        job.cancel()
    return job.result()


def until_done(job: Working, stage: Callable[[], str]) -> Generator[Step, None, None]:
    """Waits for work on another thread. stage: text for the progress."""
    while not job.done:
        yield Step(job.progress, stage())
        time.sleep(POLL_SECONDS)


def time_left(elapsed: float, fraction: float) -> str:
    """The remaining time of a task, for the end of a line; empty if unknown."""
    if elapsed < TOLD_SECONDS or not TOLD_FRACTION <= fraction < 1.0:
        return ""
    seconds = elapsed * (1.0 - fraction) / fraction
    return f", about {seconds:.0f} s left" if seconds < 90.0 else f", about {seconds / 60.0:.0f} min left"


class Runner:
    """Drives a task and keeps the latest step."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self.step = Step(0.0, "")
        self.message = ""

    def run(self, seconds: float) -> bool:
        """Works for about this time, at least one step; True once the task is finished."""
        # Not time.monotonic: Windows updates that clock only 64 times per second.
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
        """Stops the task; the task restores everything."""
        self._task.close()
