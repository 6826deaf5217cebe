"""A render shows finished bakes and nothing else; whoever forgot to bake is told.

A handler of a render may run on a thread of its own, so it only looks and prints; the interface shows the
same sentence by itself.
"""

import bpy
from bpy.app.handlers import persistent

from ..body import bodies
from ..common import modifier_stack, registry


def unbaked(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Hosts of the built bodies that a render shows without their motion, as they have no bake."""
    return [
        host
        for host in built(scene)
        if any(not mesh.hide_render and not modifier_stack.is_baked(mesh) for mesh in bodies.fleshed(host))
    ]


def built(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Hosts of the bodies of a scene that are built."""
    return [
        obj
        for obj in registry.meshes()
        if obj.jounce.is_host and obj.jounce.built_digest and scene.objects.get(obj.name) == obj
    ]


def sentence(hosts: list[bpy.types.Object]) -> str:
    """What a render of these hosts lacks."""
    names = ", ".join(host.name for host in hosts)
    return f"{names} has no bake, so a render shows the pose without its motion."


@persistent
def warn(scene: bpy.types.Scene, *_: object) -> None:
    """Says on the console, before a render starts, which bodies have no bake."""
    hosts = unbaked(scene)
    if hosts:
        print(f"Jounce: {sentence(hosts)} Bake it first.")


def register() -> None:
    """Watches renders."""
    bpy.app.handlers.render_init.append(warn)


def unregister() -> None:
    """Undoes `register`."""
    bpy.app.handlers.render_init.remove(warn)
