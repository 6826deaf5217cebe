"""Presets of bodies and materials, saved and removed by Blender's own mechanism as shareable files."""

import bpy
from bl_operators.presets import AddPresetBase

from ..bridge.common import preset_files
from . import needs
from .operator import Needing


class BodyPreset(Needing, AddPresetBase):
    """Saves the settings of the active body, or removes its preset. Subclasses name menu and folder."""

    needs = (needs.active_body,)
    preset_defines = ("body = bpy.context.object.jounce.of_body",)

    def execute(self, context: bpy.types.Context) -> set[str]:
        """Sets Blender's chosen preset to the body's, since Blender would remove the last chosen one."""
        if self.remove_active:
            host = needs.active_body(context)
            name = preset_files.name_of(host.jounce, self.preset_subdir)
            if not name:
                sentence = f"{host.name} uses no preset, so none is removed; choose one first."
                self.report({"ERROR"}, sentence)
                return {"CANCELLED"}
            getattr(bpy.types, self.preset_menu).bl_label = name
        return super().execute(context)


class JOUNCE_OT_body_preset_add(BodyPreset, bpy.types.Operator):
    """Save amount, softness, damping and limits as a preset, or remove the body's preset"""

    bl_idname = "jounce.body_preset_add"
    bl_label = "Save Preset"
    preset_menu = "JOUNCE_MT_bodies"
    preset_subdir = preset_files.BODY
    preset_values = tuple(f"body.{name}" for name in preset_files.SETTINGS[preset_subdir])


class JOUNCE_OT_material_preset_add(BodyPreset, bpy.types.Operator):
    """Save the material as a preset, or remove the body's preset"""

    bl_idname = "jounce.material_preset_add"
    bl_label = "Save Material"
    preset_menu = "JOUNCE_MT_materials"
    preset_subdir = preset_files.MATERIAL
    preset_values = tuple(f"body.{name}" for name in preset_files.SETTINGS[preset_subdir])
