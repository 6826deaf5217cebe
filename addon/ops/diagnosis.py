"""Operators that look for what may be wrong with a body, and mend it."""

import bpy
from bpy.props import IntProperty

from ..bridge import bodies, diagnosis
from ..core.refusal import Refusal
from .operator import JounceOperator


class JOUNCE_OT_diagnose(JounceOperator):
    """Look for what may be wrong with the selected bodies"""

    bl_idname = "jounce.diagnose"
    bl_label = "Diagnose"
    bl_options = {"REGISTER", "UNDO"}

    def run(self, context: bpy.types.Context) -> str:
        """Keeps the findings on each host."""
        count = sum(diagnosis.keep(host, context) for host in bodies.hosts(context))
        return f"{count} finding(s)."


class JOUNCE_OT_fix(JounceOperator):
    """Mend this, and look again"""

    bl_idname = "jounce.fix"
    bl_label = "Fix"
    bl_options = {"REGISTER", "UNDO"}

    index: IntProperty(name="Finding", description="Which of the findings of the body", min=0)

    def run(self, context: bpy.types.Context) -> str:
        """Runs the fix of one finding."""
        host = bodies.hosts(context)[0]
        if self.index >= len(host.jounce.findings):
            raise Refusal(f"{host.name} has no finding {self.index}; diagnose it again.")
        found = host.jounce.findings[self.index]
        obj = bpy.data.objects.get(found.obj)
        if obj is None or found.fix not in diagnosis.FIXES:
            raise Refusal(f"There is no fix for this at hand: {found.sentence}")
        label, fix = diagnosis.FIXES[found.fix]
        said = fix(obj, found.detail, context)
        context.view_layer.update()
        # What is edited does not reach a mesh before.
        if not context.mode.startswith("EDIT"):
            diagnosis.keep(host, context)
        return f"{label}: {said}." if isinstance(said, str) and said else f"{label}: done."
