"""The interface in its displayed order, in the sidebar and again in the Physics tab."""

import bpy

from . import (
    bake,
    body,
    bone,
    clips,
    collisions,
    diagnosis,
    direct,
    inside,
    loose,
    main,
    maps,
    more,
    motion,
    overlay,
    part_list,
    parts,
    preview,
    shot,
    sound,
    stitches,
)
from .physics import twin

# The common settings are in the main panel; all others are closed below the panel More.
SIDEBAR = (
    part_list.JOUNCE_UL_parts,
    main.JOUNCE_PT_main,
    more.JOUNCE_PT_more,
    diagnosis.JOUNCE_PT_diagnosis,
    direct.JOUNCE_UL_flesh_keys,
    direct.JOUNCE_PT_direct,
    preview.JOUNCE_PT_preview,
    bake.JOUNCE_PT_bake,
    *motion.MENUS,
    motion.JOUNCE_PT_motion,
    parts.JOUNCE_PT_parts,
    loose.JOUNCE_PT_loose,
    *maps.MENUS,
    part_list.JOUNCE_MT_part_add,
    maps.JOUNCE_PT_maps,
    stitches.JOUNCE_UL_seams,
    stitches.JOUNCE_PT_stitches,
    shot.JOUNCE_PT_shot,
    collisions.JOUNCE_PT_collisions,
    sound.JOUNCE_PT_sound,
    body.JOUNCE_PT_build,
    inside.JOUNCE_UL_modes,
    inside.JOUNCE_PT_inside,
    overlay.JOUNCE_PT_overlay,
    clips.JOUNCE_UL_clips,
    clips.JOUNCE_PT_clips,
)

TWINS = (twin(cls) for cls in SIDEBAR if issubclass(cls, bpy.types.Panel))
CLASSES = (*SIDEBAR, *TWINS, bone.JOUNCE_PT_bone)
