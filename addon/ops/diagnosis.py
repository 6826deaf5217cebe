"""Operators that diagnose a body and fix problems."""

import bpy
from bpy.props import IntProperty

from ..bridge.body import bodies, diagnosis
from ..bridge.preview import penetration, previews, tearing
from ..bridge.rig.armature_modifier import Warn
from ..core.common.task import Task
from ..core.common.user_error import UserError
from ..core.flesh.settings import BodyKind
from . import members, needs
from .build import build_body
from .operator import JounceOperator, LongOperator


class JOUNCE_OT_diagnose(JounceOperator):
    """Look for problems of the selected bodies"""

    bl_idname = "jounce.diagnose"
    bl_label = "Diagnose"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: bpy.types.Context) -> str:
        """Keeps the findings on each host."""
        count = sum(diagnosis.keep(host, context, seen(host)) for host in bodies.hosts(context))
        return f"{count} finding(s)."


def seen(host: bpy.types.Object) -> list[diagnosis.Finding]:
    """Findings of a previewed body: tears, and depths in colliders."""
    known = previews.session(host)
    return [] if known is None else [*tearing.findings(known), *penetration.findings(known)]


class JOUNCE_OT_fix(LongOperator):
    """Fix this, and check again"""

    bl_idname = "jounce.fix"
    bl_label = "Fix"
    bl_options = {"UNDO"}
    needs = (needs.findings,)

    index: IntProperty(name="Finding", description="Number of the finding in the body's list", min=0)

    def task(self, context: bpy.types.Context) -> Task:
        """Runs the fix of one finding; changes nothing if stopped or refused."""
        host = bodies.hosts(context)[0]
        if self.index >= len(host.jounce.findings):
            raise UserError(f"{host.name} has no finding {self.index}; diagnose it again.")
        found = diagnosis.kept_as(host.jounce.findings[self.index])
        obj = bpy.data.objects.get(found.obj)
        if obj is None or found.fix not in diagnosis.FIXES:
            raise UserError(f"This finding has no button; fix it by hand: {found.sentence}")
        label, fix = diagnosis.FIXES[found.fix]
        said = ""
        if fix is not None:
            fix(obj, found.detail, context)
        else:
            said = yield from built(found.fix, obj, host, context, self.warn)
        context.view_layer.update()
        # Meshes in Edit Mode cannot be part of a body, which is no finding for the artist.
        if not context.mode.startswith("EDIT"):
            diagnosis.keep(host, context, seen(host))
        return f"{label}: {said or 'done'}."


def built(
    fix: str, obj: bpy.types.Object, host: bpy.types.Object, context: bpy.types.Context, warn: Warn
) -> Task:
    """Runs a fix that needs a build, and the build; reports the number of omitted meshes."""
    able, left = diagnosis.joining(fix, obj, host, context)
    if able:
        yield from members.join(host, able, context, warn)
    elif fix == "make_attached":
        yield from attached(host, context, warn)
    else:
        yield from build_body(host, context, warn)
    return f"{left} left that cannot be added" if left else ""


def attached(host: bpy.types.Object, context: bpy.types.Context, warn: Warn) -> Task:
    """Makes a body attached, and builds it; unchanged if stopped or refused."""
    before, finished = host.jounce.kind, False
    host.jounce.kind = BodyKind.ATTACHED.value
    try:
        message = yield from build_body(host, context, warn)
        finished = True
    finally:
        if not finished:
            host.jounce.kind = before
    return message
