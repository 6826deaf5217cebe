"""jounce.key_*, jounce.direction_*: keyed shapes of the flesh, and curves of parts."""

import bpy
from bpy.props import BoolProperty

from ..bridge.common import units
from ..bridge.inputs import directions
from ..bridge.keys import numbered_keys
from ..bridge.preview import keying, picking, previews, scrubbing, sculpting
from ..core.common.user_error import UserError
from ..core.rig.part_settings import LABELS
from ..overlay.string import String
from . import needs
from .operator import JounceOperator

HELP = "Jounce: drag the flesh, wheel: size of the handful   (ESC or right click: stop)"
# Radius of a handful as a share of the size: at first, at its ends, and by a turn of the wheel.
RADIUS, NARROWEST, WIDEST, TURN = 0.12, 0.01, 1.0, 1.15


class JOUNCE_OT_key_flesh(JounceOperator):
    """Keep the displayed shape of the flesh as a key: the motion will pass through this shape"""

    bl_idname = "jounce.key_flesh"
    bl_label = "Key Flesh"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.directed, needs.out_of_edit_mode)

    def run(self, context: bpy.types.Context) -> str:
        """Keeps the shown shape."""
        host, frame = needs.directed(context), context.scene.frame_current
        keying.keep(host, frame, keying.shown(keying.ready(host, frame), frame))
        return f"{host.name}: the flesh passes this shape in frame {frame}."


class JOUNCE_OT_key_drag(JounceOperator):
    """Drag the flesh with the mouse. On release, the shape becomes the key of this frame"""

    bl_idname = "jounce.key_drag"
    bl_label = "Drag Flesh"
    bl_options = {"UNDO"}
    needs = (needs.directed, needs.out_of_edit_mode)

    def run(self, _context: bpy.types.Context) -> str:
        """Is of no use to a script."""
        raise UserError("Flesh is dragged with the mouse; press Drag Flesh in the panel Direct.")

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Waits for the mouse."""
        scrubbing.end()
        try:
            self._region = picking.viewport_region(context)
            if self._region is None:
                raise UserError("There is no 3D viewport to drag the flesh in; open one.")
            self._host = needs.directed(context)
            keying.ready(self._host, context.scene.frame_current)
        except UserError as refusal:
            self.report({"ERROR"}, str(refusal))
            return {"CANCELLED"}
        self._drag, self._string, self._kept = keying.Drag(self._host, RADIUS), String(), False
        context.window_manager.modal_handler_add(self)
        context.workspace.status_text_set(HELP)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        """Takes hold, drags and keeps; between, the view may be turned and the frame changed."""
        if event.type in {"ESC", "RIGHTMOUSE"} and event.value == "PRESS":
            self.cancel(context)
            return {"FINISHED"} if self._kept else {"CANCELLED"}
        if event.type == "LEFTMOUSE" and event.value == "PRESS":
            return self._take(context, event)
        if not self._drag.holds:
            return {"PASS_THROUGH"}
        if event.type == "LEFTMOUSE" and event.value == "RELEASE":
            self._keep()
        elif event.type == "MOUSEMOVE":
            mouse = picking.mouse_in(self._region, event)
            self._drag.target = picking.mouse_in_space(context.scene, self._region, mouse, self._drag.target)
            self._show(context)
        elif event.type in {"WHEELUPMOUSE", "WHEELDOWNMOUSE"}:
            turn = TURN if event.type == "WHEELUPMOUSE" else 1.0 / TURN
            self._drag.radius = min(max(self._drag.radius * turn, NARROWEST), WIDEST)
            self._show(context)
        return {"RUNNING_MODAL"}

    def _take(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        if not picking.is_over(self._region, context, event):
            return {"PASS_THROUGH"}
        hit = picking.under_mouse(self._host, context, self._region, picking.mouse_in(self._region, event))
        if hit is None:
            return {"PASS_THROUGH"}
        try:
            self._drag.take(hit)
        except UserError as refusal:
            self.report({"WARNING"}, str(refusal))
        return {"RUNNING_MODAL"}

    def _show(self, context: bpy.types.Context) -> None:
        self._drag.move()
        ends = self._drag.string()
        self._string.ends = None if ends is None else ends / units.metres_per_unit(context.scene)

    def _keep(self) -> None:
        self._string.ends = None
        try:
            self._kept = self._drag.let_go() is not None or self._kept
        except UserError as refusal:
            self.report({"WARNING"}, str(refusal))

    def cancel(self, context: bpy.types.Context) -> None:
        """Drops what is held; also when Blender closes the window or the file."""
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        self._drag.drop()
        self._string.close()


class JOUNCE_OT_key_sculpt(JounceOperator):
    """Sculpt the flesh of this frame on a copy of the active mesh, and keep the shape as a key"""

    bl_idname = "jounce.key_sculpt"
    bl_label = "Sculpt Flesh"
    bl_options = {"UNDO"}
    needs = (needs.directed, needs.out_of_edit_mode)

    def run(self, context: bpy.types.Context) -> str:
        """Makes the copy and enters Sculpt Mode."""
        host, active = needs.directed(context), context.view_layer.objects.active
        made = sculpting.begin(active if active.type == "MESH" else host, context)
        return f"{made.name}: sculpt it, then Keep Shape."


class JOUNCE_OT_key_sculpted(JounceOperator):
    """Keep the sculpted shape as a key of its frame, or discard it. The copy is deleted"""

    bl_idname = "jounce.key_sculpted"
    bl_label = "Keep Shape"
    bl_options = {"UNDO"}
    needs = (needs.sculpt_copy,)

    discard: BoolProperty(
        name="Discard", description="Remove the copy without a key", default=False, options={"SKIP_SAVE"}
    )

    def run(self, context: bpy.types.Context) -> str:
        """Ends the sculpting."""
        made = needs.sculpt_copy(context)
        if self.discard:
            sculpting.discard(made, context)
            return "The sculpted shape was discarded."
        key = sculpting.keep(made, context)
        return f"The flesh passes the sculpted shape in frame {key.frame}."


class JOUNCE_OT_key_remove(JounceOperator):
    """Remove the selected key and its effect on the motion"""

    bl_idname = "jounce.key_remove"
    bl_label = "Remove Key"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.flesh_key,)

    def run(self, context: bpy.types.Context) -> str:
        """Removes it."""
        host = needs.flesh_key(context)
        state, frame = host.jounce, host.jounce.flesh_key.frame
        state.flesh_keys.remove(state.flesh_key_index)
        state.flesh_key_index = max(0, min(state.flesh_key_index, len(state.flesh_keys) - 1))
        previews.direct(host)
        return f"{host.name}: the key of frame {frame} is gone."


class JOUNCE_OT_direction_add(JounceOperator):
    """Add curves for the selected part, on top of the curves of the body"""

    bl_idname = "jounce.direction_add"
    bl_label = "Direct Part"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.undirected_part,)

    def run(self, context: bpy.types.Context) -> str:
        """Adds neutral curves."""
        host = needs.undirected_part(context)
        name = host.jounce.part.name
        host.jounce.directions.add().name = name
        return f"{host.name}: {LABELS.get(name, name)} has curves of its own."


class JOUNCE_OT_direction_remove(JounceOperator):
    """Remove the curves of the selected part, with their keys"""

    bl_idname = "jounce.direction_remove"
    bl_label = "Undirect Part"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.directed_part,)

    def run(self, context: bpy.types.Context) -> str:
        """Removes them."""
        host = needs.directed_part(context)
        name = host.jounce.part.name
        index = host.jounce.directions.find(name)
        numbered_keys.remove(host, directions.KEYS, index)
        previews.direct(host)
        return f"{host.name}: {LABELS.get(name, name)} moves as its body does."
