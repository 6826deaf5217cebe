"""Hidden scenes beside the artist's, which evaluate only their linked objects and call no handlers."""

import bpy

from . import handlers, marks

NAME = "Jounce Stage"


def new(like: bpy.types.Scene) -> bpy.types.Scene:
    """An empty scene with the time and the units of another one."""
    made = bpy.data.scenes.new(NAME)
    marks.put(made, marks.STAGE)
    render, own = like.render, made.render
    own.fps, own.fps_base = render.fps, render.fps_base
    own.frame_map_old, own.frame_map_new = render.frame_map_old, render.frame_map_new
    made.unit_settings.scale_length = like.unit_settings.scale_length
    return made


def go_to(scene: bpy.types.Scene, frame: int) -> bpy.types.Depsgraph:
    """Evaluates a frame of a hidden scene."""
    with handlers.silenced():
        scene.frame_set(frame)
    return scene.view_layers[0].depsgraph


def update(scene: bpy.types.Scene) -> bpy.types.Depsgraph:
    """Evaluates the changes in a hidden scene."""
    with handlers.silenced():
        scene.view_layers[0].update()
    return scene.view_layers[0].depsgraph
