"""The input of a bake, recorded as in a bake."""

from collections.abc import Callable, Generator
from types import ModuleType

import bpy


def returned(task: Generator) -> object:
    """Runs a generator to its end; returns its result."""
    while True:
        try:
            next(task)
        except StopIteration as end:
            return end.value


def recorded(module: Callable[[str], ModuleType], host: bpy.types.Object, frames: range) -> tuple:
    """The body of a host in the scene, the built body, and its motion over some frames."""
    bake, built = module("ops.bake"), module("core.body.built_bodies").CACHE
    scene = module("bridge.body.bodies").read(host, bpy.context, print)
    body = built.get(host.jounce.built_digest)
    settings = host.jounce.bake_settings("MODAL_KEYS", frames.start, frames.stop - 1)
    (take,) = returned(bake.record([bake.Baking(scene, settings, body, "", "")], bpy.context))
    return scene, body, take.motion
