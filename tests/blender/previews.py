"""Previewed characters, and their display against their bakes."""

import bpy
import numpy as np
import scenes

FRAMES = range(1, 13)


def previewed(*more):
    """A built, swinging character with its preview on."""
    obj, rig = scenes.character()
    scenes.add_and_build(obj, *more)
    bpy.ops.jounce.preview()
    return obj, rig


def shape(obj, frame):
    bpy.context.scene.frame_set(int(frame))
    return scenes.evaluated(obj)


def baked(*objects, target):
    """The evaluated meshes of a bake exact in every frame; the bake is freed again."""
    scenes.activate(*objects)
    bpy.ops.jounce.bake(target=target, frame_start=FRAMES.start, frame_end=FRAMES.stop - 1)
    shapes = [scenes.evaluated_frames(obj, FRAMES) for obj in objects]
    bpy.ops.jounce.free_bake()
    return shapes


def assert_shown_as_baked(*objects, size=2.1, target="FRAME_KEYS"):
    shown = [scenes.evaluated_frames(obj, FRAMES) for obj in objects]
    scenes.activate(*objects)
    bpy.ops.jounce.preview()
    for obj, seen, expected in zip(objects, shown, baked(*objects, target=target), strict=True):
        posed = scenes.evaluated_frames(obj, FRAMES)
        assert np.abs(seen - posed).max() > 0.002 * size
        assert np.abs(seen - expected).max() < 1e-6 * size


def shown(obj, quality):
    """The shapes (f, p, 3) of a previewed body at a quality, with all frames simulated."""
    obj.jounce.quality = quality
    bpy.ops.jounce.fill_cache()
    return scenes.evaluated_frames(obj, FRAMES)
