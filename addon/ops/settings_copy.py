"""jounce.settings_copy: gives other characters the look of the active one, part by part."""

import bpy

from ..bridge.body import bodies, map_tools, weight_maps
from ..bridge.common import preset_files
from ..core.rig.part_settings import LABELS
from . import needs
from .operator import JounceOperator


class JOUNCE_OT_settings_copy(JounceOperator):
    """Copy amount, softness, damping, limits and parts to the other selected bodies, each part by its name"""

    bl_idname = "jounce.settings_copy"
    bl_label = "Copy Settings to Selected"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.other_bodies,)

    def run(self, context: bpy.types.Context) -> str:
        """Copies the settings of a preset and of all common parts."""
        source, targets = needs.active_body(context), needs.other_bodies(context)
        for target in targets:
            for name in preset_files.SETTINGS[preset_files.BODY]:
                setattr(target.jounce, name, getattr(source.jounce, name))
            self.copy_parts(source, target)
        return f"Settings of {source.name} copied to {', '.join(target.name for target in targets)}."

    def copy_parts(self, source: bpy.types.Object, target: bpy.types.Object) -> None:
        """Copies parts by name, makes own ones, and warns about changed ones that the target lacks."""
        lacking = []
        for part in source.jounce.parts:
            own = target.jounce.parts.get(part.name)
            if own is not None:
                own.take(part.row())
            elif part.own:
                name = weight_maps.free_name(bodies.members(target), part.name, target.jounce.parts.keys())
                map_tools.copy_part(source, target, part.name, name)
                target.jounce.add_part(name).take(part.row())
            elif not part.is_plain:
                lacking.append(LABELS[part.name])
        if lacking:
            self.warn(f"{target.name} has no {', '.join(lacking)}, so these were left out.")
