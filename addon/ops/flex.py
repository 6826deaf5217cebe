"""jounce.flex_mode: plays one mode or derivative on the meshes."""

import math
import time

import bpy
import numpy as np
from bpy.props import IntProperty

from ..bridge.body import bodies
from ..bridge.preview import displayed_modes, previews, scrubbing, temporary_display
from ..core.common.user_error import UserError
from ..core.display import modes
from ..core.display.modes import Family
from . import needs
from .operator import JounceOperator

TIMER_SECONDS = 1.0 / 60.0


class JOUNCE_OT_flex_mode(JounceOperator):
    """Let the mode swing on the mesh, slowed down, from side to side of the view, until Esc or a click"""

    bl_idname = "jounce.flex_mode"
    bl_label = "Play Mode"
    needs = (needs.flesh, needs.in_memory)

    mode: IntProperty(name="Mode", description="Number of the mode, from 0", min=0)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Starts to swing."""
        try:
            self._begin(context)
        except UserError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        self._timer = context.window_manager.event_timer_add(TIMER_SECONDS, window=context.window)
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(f"Jounce: mode {self.mode + 1} swings   (ESC or click: stop)")
        return {"RUNNING_MODAL"}

    def run(self, _context: bpy.types.Context) -> str:
        """Is of no use to a script."""
        raise UserError(
            "A mode swings only in a window; press the arrow beside the mode in the panel Inside."
        )

    def _begin(self, context: bpy.types.Context) -> None:
        scrubbing.end()
        host = bodies.hosts(context)[0]
        body = temporary_display.body_of(host)
        family = Family(context.window_manager.jounce.family)
        if family is Family.SKINNING:
            if self.mode >= body.model.mode_count:
                raise UserError(f"{host.name} has {body.model.mode_count} modes; choose one of them.")
            host.jounce.mode_index = self.mode
        self._shape = displayed_modes.shape(host, body, family, self.mode + 1, context)
        self._diagonal = float(np.linalg.norm(np.ptp(body.embedding.points, axis=0)))
        self._rate = modes.shown_rate(displayed_modes.ratio(host, family, self.mode))
        self._shown = temporary_display.Shown(host, context.scene)
        self._start = time.perf_counter()

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Swings on at each tick of the timer; the view may be turned meanwhile."""
        if event.type in {"ESC", "LEFTMOUSE", "RIGHTMOUSE", "RET"} and event.value == "PRESS":
            self.cancel(context)
            return {"FINISHED"}
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        phase = 2.0 * math.pi * self._rate * (time.perf_counter() - self._start)
        self._shown.write(modes.swing(self._shape, self._diagonal, math.sin(phase)))
        previews.redraw(True)
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Restores the earlier display; also when Blender closes the window or the file."""
        context.window_manager.event_timer_remove(self._timer)
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        self._shown.close()
