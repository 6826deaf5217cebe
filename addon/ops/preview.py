"""jounce.preview, fill_cache and clear_cache: the motion live in the viewport."""

import bpy
from bpy.props import EnumProperty

from ..bridge.body import bodies
from ..bridge.preview import previews
from ..core.common.task import Task, in_turn
from . import needs
from .build import build, keep
from .operator import JounceOperator, LongOperator

SHOW = (
    ("OTHER", "The Other", "Switch between flesh and pose"),
    ("POSE", "Pose", "The pose alone, without flesh"),
    ("FLESH", "Flesh", "The motion of the flesh, live"),
)


class JOUNCE_OT_preview(LongOperator):
    """Show the motion of the selected bodies live in the viewport, or the pose alone"""

    bl_idname = "jounce.preview"
    bl_label = "Preview"
    bl_options = {"UNDO"}

    show: EnumProperty(name="Show", description="Flesh or pose", items=SHOW)

    def task(self, context: bpy.types.Context) -> Task:
        """Switches all previews on, with missing builds, or off; to the other, off if one is on."""
        hosts = bodies.dressed(bodies.hosts(context))
        names = ", ".join(host.name for host in hosts)
        is_on = any(host.jounce.preview for host in hosts)
        if self.show == "POSE" or (self.show == "OTHER" and is_on):
            for host in hosts:
                previews.set_aside(host)
            return f"The preview of {names} is off."
        for host in hosts:
            previews.refuse_unusable(host)
        missing = [host for host in hosts if not host.jounce.built_digest]
        made = yield from in_turn(build(host, context, self.warn) for host in missing)
        for each in made:
            keep(each, context)
        for host in hosts:
            if not host.jounce.preview:
                previews.switch_on(host)
        return f"{names}: the motion is shown live."


class JOUNCE_OT_fill_cache(LongOperator):
    """Simulate all frames of the scene now, to show each of them at once"""

    bl_idname = "jounce.fill_cache"
    bl_label = "Calculate"
    needs = (needs.previewed,)

    def task(self, context: bpy.types.Context) -> Task:
        """Fills one body after the other."""
        hosts = needs.previewed(context)
        yield from in_turn(previews.filled(host, context) for host in hosts)
        return "; ".join(f"{host.name}: {previews.session(host).status()}" for host in hosts)


class JOUNCE_OT_clear_cache(JounceOperator):
    """Delete the cached motion of the selected bodies; a preview simulates the motion again"""

    bl_idname = "jounce.clear_cache"
    bl_label = "Clear Cache"
    bl_options = {"UNDO"}

    def run(self, context: bpy.types.Context) -> str:
        """Clears one body after the other."""
        hosts = bodies.dressed(bodies.hosts(context))
        for host in hosts:
            previews.forget(host)
        return f"Cleared the cache of {', '.join(host.name for host in hosts)}."
