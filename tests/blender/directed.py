"""Columns of flesh that is directed, and their shapes."""

import bpy
import numpy as np
import scenes

FRAMES = range(1, 25)
SIZE = 2.1


def character(quality="DRAFT", end=FRAMES.stop - 1):
    """A previewed column over two swings long, every frame simulated."""
    obj, rig = scenes.character()
    scenes.settle_scene(end)
    scenes.add_and_build(obj)
    if quality == "LEARNT":
        bpy.ops.jounce.learn()
    obj.jounce.quality = quality
    bpy.ops.jounce.preview(show="FLESH")
    bpy.ops.jounce.fill_cache()
    return obj, rig


def shapes(obj, frames=FRAMES):
    return scenes.evaluated_frames(obj, frames)


def posed(obj, frames=FRAMES):
    bpy.ops.jounce.preview(show="POSE")
    found = shapes(obj, frames)
    bpy.ops.jounce.preview(show="FLESH")
    bpy.ops.jounce.fill_cache()
    return found


def bulge(module, obj, frame, amount=0.2):
    """Keys a frame with the upper half pushed aside; the displacement (p, 3) in the world."""
    keying = module("bridge.preview.keying")
    bpy.context.scene.frame_set(frame)
    world = keying.shown(keying.ready(obj, frame), frame).astype(float)
    heights = np.array([vertex.co.z for vertex in obj.data.vertices])
    world[:, 1] += amount * np.clip(heights - 1.0, 0.0, 1.0)
    world *= module("bridge.preview.previews").session(obj).direction.director().swings.flesh[:, None] > 0.0
    keying.keep(obj, frame, world)
    return world


def differing(first, second):
    return [frame for row, frame in enumerate(FRAMES) if not np.array_equal(first[row], second[row])]
