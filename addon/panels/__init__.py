"""The interface, in the order in which it is shown."""

from . import bake, body, main, maps, motion

CLASSES = (
    main.JOUNCE_PT_main,
    body.JOUNCE_PT_build,
    maps.JOUNCE_PT_maps,
    motion.JOUNCE_PT_motion,
    bake.JOUNCE_PT_bake,
)
