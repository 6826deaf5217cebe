"""A render shows finished bakes only; a warning names unbaked bodies.

A render handler may run on a separate thread, and therefore only reads and prints; the interface shows the
same sentence.
"""

import bpy
from bpy.app.handlers import persistent

from ..body import bodies
from ..common import registry
from ..rig import modifier_stack


def unbaked(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Hosts of built bodies without a bake, rendered without motion."""
    return [
        host
        for host in built(scene)
        if any(not mesh.hide_render and not modifier_stack.is_baked(mesh) for mesh in bodies.fleshed(host))
    ]


def built(scene: bpy.types.Scene) -> list[bpy.types.Object]:
    """Hosts of the built bodies of a scene."""
    return [
        obj
        for obj in registry.meshes()
        if obj.jounce.is_host and obj.jounce.built_digest and scene.objects.get(obj.name) == obj
    ]


def sentence(hosts: list[bpy.types.Object]) -> str:
    """Warning about a render of these hosts."""
    names = ", ".join(host.name for host in hosts)
    return f"{names} has no bake, so a render shows the pose without its motion."


@persistent
def warn(scene: bpy.types.Scene, *_: object) -> None:
    """Prints the bodies without a bake on the console before a render."""
    hosts = unbaked(scene)
    if hosts:
        print(f"Jounce: {sentence(hosts)} Bake it first.")


def register() -> None:
    """Watches renders."""
    bpy.app.handlers.render_init.append(warn)


def unregister() -> None:
    """Undoes `register`."""
    bpy.app.handlers.render_init.remove(warn)
