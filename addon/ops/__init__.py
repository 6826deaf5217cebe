"""The operators, one file for each or for a few that belong together."""

from . import add, bake, build, clips, diagnosis, flex, free_bake, grab, maps, preview, remove, setup

CLASSES = (
    setup.JOUNCE_OT_setup,
    add.JOUNCE_OT_add,
    build.JOUNCE_OT_build,
    bake.JOUNCE_OT_bake,
    free_bake.JOUNCE_OT_free_bake,
    preview.JOUNCE_OT_preview,
    preview.JOUNCE_OT_fill_cache,
    preview.JOUNCE_OT_clear_cache,
    grab.JOUNCE_OT_grab,
    flex.JOUNCE_OT_flex_mode,
    remove.JOUNCE_OT_remove,
    maps.JOUNCE_OT_map_add,
    maps.JOUNCE_OT_map_from_selection,
    maps.JOUNCE_OT_map_paint,
    maps.JOUNCE_OT_map_from_bones,
    maps.JOUNCE_OT_map_from_sphere,
    maps.JOUNCE_OT_map_smooth,
    maps.JOUNCE_OT_map_mirror,
    maps.JOUNCE_OT_maps_copy,
    diagnosis.JOUNCE_OT_diagnose,
    diagnosis.JOUNCE_OT_fix,
    clips.JOUNCE_OT_clips_list,
    clips.JOUNCE_OT_clip_assign,
    clips.JOUNCE_OT_clips_bake,
)
