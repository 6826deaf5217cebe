"""jounce.bake_sound: the sound of a body from its impacts in a shot, as a strip of the sequencer."""

import bpy

from ..bridge.bake import sounds
from ..bridge.body import bodies
from ..bridge.common import units
from ..core.common.task import Task, in_turn, scaled
from ..core.flesh.settings import Target
from ..core.shot.sound import sound
from . import needs
from .bake import recorded, remember
from .operator import JounceOperator, LongOperator


class JOUNCE_OT_bake_sound(LongOperator):
    """Bake the sound of impacts on the selected bodies to WAV files, with a strip for each"""

    bl_idname = "jounce.bake_sound"
    bl_label = "Bake Sound"
    bl_options = {"UNDO"}
    needs = (needs.ringing, needs.out_of_edit_mode)

    def task(self, context: bpy.types.Context) -> Task:
        """Records the motion as a bake does; all is written at the very end."""
        hosts, scene = bodies.hosts(context), context.scene
        sounds.refuse_silent()
        for host in hosts:
            sounds.refuse_homeless(host)
        over = scene.frame_start, scene.frame_end
        asked = [(host, host.jounce.bake_settings(Target.MESH_CACHE.value, *over)) for host in hosts]
        pairs = yield from scaled(recorded(asked, context, self.warn), 0.0, 0.6)
        heard = in_turn(
            sound(
                baking.body,
                baking.shown,
                taken.motion,
                1.0 / units.frame_seconds(scene),
                baking.scene.host.jounce.sound_settings(),
                baking.scene.host.name,
            )
            for baking, taken in pairs
        )
        made = yield from scaled(heard, 0.6, 1.0)
        said = []
        for (baking, taken), ringing in zip(pairs, made, strict=True):
            path = sounds.put(baking.scene.host, scene, ringing)
            remember(baking, taken, context, self.warn)
            said.append(f"{baking.scene.host.name}: {path.name}, {ringing.blows} blow(s)")
        return "; ".join(said)


class JOUNCE_OT_free_sound(JounceOperator):
    """Remove the baked sound of the selected bodies from the sequencer"""

    bl_idname = "jounce.free_sound"
    bl_label = "Free Sound"
    bl_options = {"UNDO"}
    needs = (needs.heard,)

    def run(self, context: bpy.types.Context) -> str:
        """Frees one body after the other."""
        hosts = needs.heard(context)
        for host in hosts:
            sounds.free(host)
        return f"Freed the sound of {', '.join(host.name for host in hosts)}."
