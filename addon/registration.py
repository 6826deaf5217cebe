"""All classes registered with Blender, in their order of registration."""

from pathlib import Path

import bpy

from . import cli, ops, panels, props, translations
from .bridge.bake import cache_files, kept, renders
from .bridge.body import copies
from .bridge.common import preset_pictures, registry
from .bridge.inputs import played_actions
from .bridge.preview import previews, scrubbing
from .core.body import built_bodies
from .overlay import handle, timeline, view
from .panels import law, object_menu, render
from .props import bake, bones, collisions, diagnosis, direct, modes, muscles, parts, scene, stitches, window

# Holds the folder `presets`.
FOLDER = str(Path(__file__).parent)

CLASSES = (
    diagnosis.JounceFinding,
    modes.JounceMode,
    stitches.JouncePair,
    stitches.JounceSeam,
    muscles.JounceMuscle,
    parts.JouncePart,
    direct.JounceDirection,
    direct.JounceFleshKey,
    bake.JounceKeptBake,
    props.JounceObject,
    scene.JounceClip,
    scene.JounceMotion,
    scene.JounceScene,
    window.JounceWindow,
    *ops.CLASSES,
    *panels.CLASSES,
    handle.JOUNCE_GT_amount,
    handle.JOUNCE_GGT_part,
)


def register() -> None:
    """Registers all classes and hangs the settings on objects."""
    translations.in_own_context(CLASSES)
    for cls in CLASSES:
        bpy.utils.register_class(cls)
    bpy.types.Object.jounce = bpy.props.PointerProperty(
        type=props.JounceObject, name="Jounce", override={"LIBRARY_OVERRIDABLE"}
    )
    bpy.types.Object.jounce_shape = collisions.SHAPE
    bpy.types.Object.jounce_of_bone = collisions.OF_BONE
    bpy.types.Object.jounce_keeps_size = collisions.KEEPS_SIZE
    bpy.types.Object.jounce_resolution = collisions.RESOLUTION
    bpy.types.PoseBone.jounce_leak = bones.LEAK
    bpy.types.PoseBone.jounce_role = bones.ROLE
    bpy.types.Material.jounce_rigid = bones.HARD_MATERIAL
    bpy.types.Scene.jounce = bpy.props.PointerProperty(type=scene.JounceScene, name="Jounce")
    bpy.types.WindowManager.jounce = bpy.props.PointerProperty(
        type=window.JounceWindow, name="Jounce", options={"SKIP_SAVE"}
    )
    bpy.utils.register_preset_path(FOLDER)
    translations.register()
    cli.register()
    registry.register()
    cache_files.register()
    copies.register()
    played_actions.register()
    kept.register()
    renders.register()
    render.register()
    object_menu.register()
    timeline.register()
    previews.register()


def unregister() -> None:
    """Undoes `register` and drops the built bodies from memory."""
    law.unregister()
    preset_pictures.unregister()
    object_menu.unregister()
    render.unregister()
    renders.unregister()
    scrubbing.end()
    previews.unregister()
    timeline.unregister()
    kept.unregister()
    played_actions.unregister()
    copies.unregister()
    cache_files.unregister()
    registry.unregister()
    cli.unregister()
    translations.unregister()
    bpy.utils.unregister_preset_path(FOLDER)
    view.sync(False)
    del bpy.types.WindowManager.jounce
    del bpy.types.Scene.jounce
    del bpy.types.Material.jounce_rigid
    del bpy.types.PoseBone.jounce_role
    del bpy.types.PoseBone.jounce_leak
    del bpy.types.Object.jounce_resolution
    del bpy.types.Object.jounce_keeps_size
    del bpy.types.Object.jounce_of_bone
    del bpy.types.Object.jounce_shape
    del bpy.types.Object.jounce
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
    built_bodies.CACHE.clear()
