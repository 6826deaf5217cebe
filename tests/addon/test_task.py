"""Tasks run to their end, in slices, or are stopped and put everything back."""

import pytest
from jounce_core.common.task import Runner, Step, finished, in_turn, scaled, time_left
from jounce_core.common.user_error import UserError


class Work:
    """A job that is done after some queries."""

    stage = "modes"

    def __init__(self, looks):
        self.looks, self.cancelled = looks, False

    @property
    def done(self):
        self.looks -= 1
        return self.looks < 0

    @property
    def progress(self):
        return 1.0 / (1.0 + self.looks)

    def cancel(self):
        self.cancelled = True

    def result(self):
        return "made"


def counting(log, steps=4):
    """A task with a record of steps and cleanup."""
    try:
        for index in range(steps):
            log.append(index)
            yield Step(index / steps, f"step {index}")
    finally:
        log.append("cleaned")
    return "done"


def test_runs_to_the_end():
    log = []
    runner = Runner(counting(log))
    assert runner.run(float("inf"))
    assert (runner.message, log) == ("done", [0, 1, 2, 3, "cleaned"])


def test_without_time_it_makes_one_step_a_slice():
    log = []
    runner = Runner(counting(log))
    slices = 1
    while not runner.run(0.0):
        assert len(log) == slices
        slices += 1
    assert runner.message == "done"


def test_stopped_it_cleans_up():
    log = []
    runner = Runner(counting(log))
    runner.run(0.0)
    runner.cancel()
    assert log == [0, "cleaned"]
    runner.cancel()


def test_a_refusal_passes_through_after_the_clean_up():
    def refusing(log):
        try:
            yield Step(0.0, "")
            raise UserError("No.")
        finally:
            log.append("cleaned")

    log = []
    with pytest.raises(UserError, match="No"):
        Runner(refusing(log)).run(float("inf"))
    assert log == ["cleaned"]


def test_a_job_is_waited_for_and_tells_how_far_it_is():
    def task(job):
        return (yield from finished(job, "Building"))

    runner, stages = Runner(task(Work(3))), []
    while not runner.run(0.0):
        stages.append(runner.step)
    assert runner.message == "made"
    assert stages == [
        Step(1.0 / 3.0, "Building: modes"),
        Step(0.5, "Building: modes"),
        Step(1.0, "Building: modes"),
    ]


def test_a_job_stops_with_its_task():
    work = Work(3)
    task = finished(work, "Building")
    next(task)
    task.close()
    assert work.cancelled and work.looks > 0


def test_in_turn_gives_each_its_part_and_all_results():
    log = []
    task = in_turn([counting(log, 2), counting(log, 4)])
    steps = []
    while True:
        try:
            steps.append(next(task).fraction)
        except StopIteration as stop:
            assert stop.value == ["done", "done"]
            break
    assert steps == [0.0, 0.25, 0.5, 0.625, 0.75, 0.875]
    log.clear()
    task = in_turn([counting(log), counting(log)])
    next(task)
    task.close()
    assert log == [0, "cleaned"]


def test_scaled_keeps_result_and_clean_up():
    log = []
    task = scaled(counting(log, 2), 0.5, 1.0)
    assert [step.fraction for step in task] == [0.5, 0.75]
    log.clear()
    task = scaled(counting(log), 0.0, 0.5)
    next(task)
    task.close()
    assert log == [0, "cleaned"]


def test_the_time_left_is_told_once_it_is_known():
    assert time_left(1.0, 0.5) == time_left(10.0, 0.0) == time_left(10.0, 1.0) == ""
    assert time_left(10.0, 0.25) == ", about 30 s left"
    assert time_left(60.0, 0.1) == ", about 9 min left"
