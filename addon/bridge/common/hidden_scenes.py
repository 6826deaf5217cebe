"""Scenes beside the artist's, in which only what is linked to them is evaluated."""

import bpy

from . import marks

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
