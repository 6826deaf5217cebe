"""Common base of all operators: requirements, refusals as one sentence, and long work in ticks."""

import time
from collections.abc import Callable
from typing import ClassVar

import bpy

from ..bridge.common import progress, registry
from ..bridge.preview import scrubbing
from ..core.common.task import Runner, Task, time_left
from ..core.common.user_error import UserError
from . import needs

# A tick lasts at least this long, and this many times Blender's time since the last tick, which limits
# redraws to a quarter of the work; and at most this long, which keeps ESC responsive.
TICK_SECONDS, LONGEST_TICK_SECONDS, WORK_TO_REDRAW = 0.05, 0.3, 4.0
TIMER_SECONDS = 0.01
# Operators that move the view and change nothing, by the start of their names.
NAVIGATION = ("view3d.rotate", "view3d.move", "view3d.zoom", "view3d.dolly", "view3d.view", "view3d.ndof")


Need = Callable[[bpy.types.Context], object]


class Needing:
    """Greys out buttons with a missing requirement, with the reason as a sentence.

    Subclasses list their requirements: functions that refuse, cost next to nothing and write nothing.
    """

    needs: ClassVar[tuple[Need, ...]] = (needs.own_bodies,)

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        """Asks for each need in turn."""
        try:
            for need in cls.needs:
                need(context)
        except UserError as refusal:
            cls.poll_message_set(str(refusal))
            return False
        return True


class JounceOperator(Needing, bpy.types.Operator):
    """Reports warnings and refusals. Subclasses work in `run`, and change nothing before a possible
    refusal.
    """

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Runs to the end."""
        # A script may have added or deleted objects without an evaluation.
        registry.look_again()
        scrubbing.end()
        try:
            self.report({"INFO"}, self.run(context))
        except UserError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        return {"FINISHED"}

    def run(self, context: bpy.types.Context) -> str:
        """Does the work and returns one sentence about the result."""
        raise NotImplementedError

    def warn(self, sentence: str) -> None:
        """Reports a warning for the artist; the work continues."""
        self.report({"WARNING"}, sentence)


class LongOperator(JounceOperator):
    """Work of seconds: to its end when called by a script, in ticks with progress and ESC when invoked.

    Subclasses define the work as a task. Meanwhile nothing in the window takes events except navigation,
    which protects the scene from changes; stopped or refused, the task itself restores everything.
    """

    _runner: Runner
    _timer: bpy.types.Timer
    # End of the last tick; None before the first, which is long because everything is redrawn afterwards.
    _worked: float | None
    _began: float

    def task(self, context: bpy.types.Context) -> Task:
        """The work in steps."""
        raise NotImplementedError

    def run(self, context: bpy.types.Context) -> str:
        """Runs the whole task."""
        runner = Runner(self.task(context))
        runner.run(float("inf"))
        return runner.message

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Starts the task in the window; without a window runs the task to its end."""
        registry.look_again()
        scrubbing.end()
        if bpy.app.background:
            return self.execute(context)
        self._runner = Runner(self.task(context))
        self._worked, self._began = None, time.perf_counter()
        manager = context.window_manager
        self._timer = manager.event_timer_add(TIMER_SECONDS, window=context.window)
        manager.progress_begin(0.0, 1.0)
        manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Works a little at each tick of the timer."""
        if event.type == "ESC":
            self.cancel(context)
            return self.stopped()
        if event.type != "TIMER":
            return {"PASS_THROUGH"} if navigates(context, event) else {"RUNNING_MODAL"}
        return self.tick(context)

    def tick(self, context: bpy.types.Context) -> set[str]:
        """One tick: works for a share of time and shows progress."""
        try:
            if not self._runner.run(share(self._worked)):
                self.show_progress(context)
                self._worked = time.perf_counter()
                return {"RUNNING_MODAL"}
        except UserError as refusal:
            self.close(context)
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        except BaseException:
            self.close(context)
            raise
        self.close(context)
        self.report({"INFO"}, self._runner.message)
        return {"FINISHED"}

    def stopped(self) -> set[str]:
        """Tells the result of ESC, which by itself is none."""
        self.report({"INFO"}, f"{self.bl_label} was stopped; nothing was changed.")
        return {"CANCELLED"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Called by ESC, and by Blender when the window or the file is closed."""
        self._runner.cancel()
        self.close(context)

    def show_progress(self, context: bpy.types.Context) -> None:
        """Shows stage, percentage and time left in the status bar, and the percentage at the mouse."""
        step = self._runner.step
        context.window_manager.progress_update(step.fraction)
        progress.show(step.fraction, context)
        left = time_left(time.perf_counter() - self._began, step.fraction)
        context.workspace.status_text_set(f"Jounce: {step.stage} {step.fraction:.0%}{left}   (ESC: stop)")

    def close(self, context: bpy.types.Context) -> None:
        """Takes timer and progress away."""
        manager = context.window_manager
        manager.event_timer_remove(self._timer)
        manager.progress_end()
        progress.show(None, context)
        if context.workspace is not None:
            context.workspace.status_text_set(None)


def navigates(context: bpy.types.Context, event: bpy.types.Event) -> bool:
    """True for an event to move the view of a 3D viewport, by the artist's own keymap."""
    if event.type in ("MOUSEMOVE", "INBETWEEN_MOUSEMOVE") or not is_over_viewport(context, event):
        return False
    keymap = context.window_manager.keyconfigs.user.keymaps.get("3D View")
    item = None if keymap is None else keymap.keymap_items.match_event(event)
    return item is not None and item.idname.startswith(NAVIGATION)


def is_over_viewport(context: bpy.types.Context, event: bpy.types.Event) -> bool:
    """True if the mouse is in the main region of a 3D viewport, outside of all regions on top."""
    areas = (area for area in context.window.screen.areas if area.type == "VIEW_3D")
    under = {
        region.type
        for area in areas
        for region in area.regions
        if 0 <= event.mouse_x - region.x < region.width and 0 <= event.mouse_y - region.y < region.height
    }
    return "WINDOW" in under and not under & {"UI", "TOOLS"}


def share(worked: float | None) -> float:
    """Duration of a tick in seconds. worked: end of the last tick, None before the first."""
    if worked is None:
        return LONGEST_TICK_SECONDS
    elsewhere = time.perf_counter() - worked
    return min(max(TICK_SECONDS, WORK_TO_REDRAW * elsewhere), LONGEST_TICK_SECONDS)
