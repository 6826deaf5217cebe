"""Presets of bodies and materials, saved and removed by Blender's own mechanism as shareable files."""

import bpy
from bl_operators.presets import AddPresetBase

from . import needs
from .operator import Needing


class JOUNCE_OT_body_preset_add(Needing, AddPresetBase, bpy.types.Operator):
    """Save what kind of body this is as a preset, or remove the preset chosen last"""

    bl_idname = "jounce.body_preset_add"
    bl_label = "Save Kind of Body"
    needs = (needs.active_body,)
    preset_menu = "JOUNCE_MT_bodies"
    preset_subdir = "jounce/body"
    preset_defines = ("body = bpy.context.object.jounce.of_body",)
    preset_values = ("body.bone_core", "body.amount", "body.damping")


class JOUNCE_OT_material_preset_add(Needing, AddPresetBase, bpy.types.Operator):
    """Save the material as a preset, or remove the preset chosen last"""

    bl_idname = "jounce.material_preset_add"
    bl_label = "Save Material"
    needs = (needs.active_body,)
    preset_menu = "JOUNCE_MT_materials"
    preset_subdir = "jounce/material"
    preset_defines = ("body = bpy.context.object.jounce.of_body",)
    preset_values = ("body.stiffness_by", "body.young", "body.density", "body.poisson", "body.damping")
