"""jounce.grab: pulls the flesh with the mouse."""

import bpy

from ..bridge.body import bodies
from ..bridge.preview import picking, pulling, scrubbing
from ..core.common.user_error import UserError
from ..overlay.string import String
from . import needs
from .operator import JounceOperator

TIMER_SECONDS = 0.01
HELP = "Jounce: drag the flesh, Enter: keep its shape as a key   (ESC or right click: stop)"


class JOUNCE_OT_grab(JounceOperator):
    """Pull the flesh of a previewed body with the mouse and let it swing; Enter keeps the shape as a key"""

    bl_idname = "jounce.grab"
    bl_label = "Grab Flesh"
    bl_options = {"UNDO"}
    needs = (needs.own_bodies, needs.previewed)

    def run(self, _context: bpy.types.Context) -> str:
        """Is of no use to a script."""
        raise UserError("Flesh is grabbed with the mouse; press Grab Flesh in the panel Preview.")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Waits for the mouse."""
        scrubbing.end()
        try:
            self._region = picking.viewport_region(context)
            if self._region is None:
                raise UserError("There is no 3D viewport to grab the flesh in; open one.")
            self._host = bodies.hosts(context)[0]
            self._hand = pulling.Hand(self._host)
        except UserError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        self._string, self._kept = String(), False
        self._timer = context.window_manager.event_timer_add(TIMER_SECONDS, window=context.window)
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(HELP)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Takes hold, pulls, lets go; between, the view may be turned and other tools used."""
        is_over = event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS"
        if is_over or not self._hand.is_there:
            self.cancel(context)
            return {"FINISHED"} if self._kept else {"CANCELLED"}
        if event.type == "TIMER":
            self._hand.pull()
            self._string.ends = self._hand.string()
        elif event.type == "LEFTMOUSE" and event.value == "PRESS":
            return self._take(context, event)
        elif event.type == "LEFTMOUSE" and event.value == "RELEASE" and self._hand.holds:
            self._hand.let_go()
        elif event.type in {"RET", "NUMPAD_ENTER"} and event.value == "PRESS":
            return self._keep()
        elif event.type == "MOUSEMOVE" and self._hand.holds:
            mouse = picking.mouse_in(self._region, event)
            self._hand.target = picking.mouse_in_space(
                context.scene, self._region, mouse, self._hand.position()
            )
        return {"PASS_THROUGH"}

    def _take(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not picking.is_over(self._region, context, event):
            return {"PASS_THROUGH"}
        mouse = picking.mouse_in(self._region, event)
        hit = picking.under_mouse(self._host, context, self._region, mouse)
        try:
            if hit is not None:
                self._hand.take(hit, context.evaluated_depsgraph_get())
        except UserError as refusal:
            self.report({"WARNING"}, str(refusal))
        return {"RUNNING_MODAL"}

    def _keep(self) -> set[str]:
        try:
            self._kept = self._hand.keep() or self._kept
        except UserError as refusal:
            self.report({"WARNING"}, str(refusal))
        return {"RUNNING_MODAL"}

    def cancel(self, context: bpy.types.Context) -> None:
        """Shows the frame again; also when Blender closes the window or the file."""
        context.window_manager.event_timer_remove(self._timer)
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        self._hand.close()
        self._string.close()
