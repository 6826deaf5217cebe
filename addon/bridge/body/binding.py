"""Binds a body: rest places of the meshes, meshes with flesh, and visible faces."""

import bpy

from ...core import hidden_faces
from ..common import evaluation
from ..rig import bone_transforms
from . import bodies, followers, shown_faces

# Binding data on each mesh.
KEPT = ("bind_matrix", "armature_matrix", "left_out", "hidden_faces")


def bind(host: bpy.types.Object, context: bpy.types.Context) -> None:
    """Records the binding of a body for later reading."""
    bodies.bind(host, context)
    objects = bodies.members(host)
    leaders: dict[bpy.types.Object, bpy.types.Object] = {}
    if len(objects) > 1:
        with bone_transforms.rest_position(objects, context.view_layer):
            leaders = followers.leaders(objects, context.view_layer)
    depsgraph = evaluation.depsgraph(context)
    for obj in objects:
        hidden = shown_faces.never_shown(obj, context.scene, depsgraph)
        obj.jounce.hidden_faces = hidden_faces.packed(hidden)
        reason = "is never shown" if len(hidden) and hidden.all() else ""
        obj.jounce.left_out = f"follows {leaders[obj].name} by itself" if obj in leaders else reason
