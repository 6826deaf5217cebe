"""jounce.sew: merges several bodies into one, stitched at the nearest places."""

from contextlib import ExitStack

import bpy

from ..bridge.bake import bakes
from ..bridge.body import bodies, diagnosis, sewing, stitches
from ..bridge.preview import previews
from ..bridge.rig.armature_modifier import Warn
from ..core.common.task import Task
from ..core.common.user_error import UserError
from . import needs
from .members import built_again, preview_off
from .operator import LongOperator
from .remove import forget
from .stitches import AtMost, WithinDistance

Objects = list[bpy.types.Object]


class JOUNCE_OT_sew(WithinDistance, AtMost, LongOperator):
    """Make the other selected bodies part of the active body, stitched at the nearest places"""

    bl_idname = "jounce.sew"
    bl_label = "Sew Bodies"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.sewable, needs.out_of_edit_mode)

    def task(self, context: bpy.types.Context) -> Task:
        """Sews all of them, or none."""
        host, others = needs.sewable(context)
        for other in others:
            self.refuse_unfit(host, other)
        bodies.refuse_unevaluated(tuple(needs.selected_meshes(context)), context)
        found = [self.stitched(host, other, context) for other in others]
        yield from sew(host, others, found, context, self.warn)
        context.view_layer.update()
        diagnosis.keep(host, context)
        count = sum(len(pairs) for seams in found for pairs in seams.values())
        return f"{host.name}: {', '.join(other.name for other in others)} sewn on with {count} stitches."

    def refuse_unfit(self, host: bpy.types.Object, other: bpy.types.Object) -> None:
        """Refuses a body unfit to become part of another."""
        for obj in bodies.members(other):
            bodies.refuse_unfit(obj, self.warn)
            bakes.refuse_stuck(obj)
        sewing.refuse_apart(host, other, self.warn)

    def stitched(
        self, host: bpy.types.Object, other: bpy.types.Object, context: bpy.types.Context
    ) -> stitches.Found:
        """Stitches between the selected meshes of two bodies."""
        chosen = needs.selected_meshes(context)
        ends = [[obj for obj in chosen if bodies.host_of(obj) == body] for body in (host, other)]
        found = sewing.nearest(*ends, self.distance / 100.0, self.most, context.view_layer)
        if not found:
            raise UserError(
                f"Nothing of {other.name} is near enough to {host.name}; raise Distance, or bring the two "
                "together."
            )
        return found


def sew(
    host: bpy.types.Object,
    others: Objects,
    found: list[stitches.Found],
    context: bpy.types.Context,
    warn: Warn,
) -> Task:
    """Merges bodies into another and rebuilds a built body; changes nothing if stopped or refused.

    found: stitches of each.
    """
    joining = [obj for other in others for obj in bodies.members(other)]
    with preview_off(host, joining), ExitStack() as undo:
        for other in others:
            hide(other, undo)
        sewing.put(host.jounce, "seam_index", host.jounce.seam_index, undo)
        undo.callback(stitches.cut, host, len(host.jounce.seams))
        for other, seams in zip(others, found, strict=True):
            sewing.take(host, other, undo, warn)
            for ends, pairs in seams.items():
                stitches.add(host, f"{ends[0].name} - {ends[1].name}", ends, pairs)
        message = yield from built_again(host, context, warn)
        undo.pop_all()
        for other in others:
            forget(other)
        for obj in joining:
            bakes.free_all(obj)
        for other in others:
            sewing.keep_own(other)
    return message


def hide(host: bpy.types.Object, undo: ExitStack) -> None:
    """Switches off the preview of a body before its merge."""
    if host.jounce.preview:
        previews.refuse_unplaced(host)
        previews.switch_off(host)
        undo.callback(previews.switch_on, host)
