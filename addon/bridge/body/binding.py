"""Binds a body: rest places of the meshes, meshes and vertices with flesh, and visible faces."""

import bpy

from ...core.mesh import hidden_faces, shares
from ..common import evaluation
from ..rig import bone_transforms
from . import bodies, followers, shown_faces

# Binding data on each mesh.
KEPT = ("bind_matrix", "armature_matrix", "left_out", "hidden_faces", "following")


def bind(host: bpy.types.Object, context: bpy.types.Context) -> None:
    """Records the binding of a body for later reading."""
    bodies.bind(host, context)
    objects = bodies.members(host)
    found: dict[bpy.types.Object, followers.Follower] = {}
    if len(objects) > 1:
        with bone_transforms.rest_position(objects, context.view_layer):
            found = followers.followers(objects, context.view_layer)
    depsgraph = evaluation.depsgraph(context)
    for obj in objects:
        hidden = shown_faces.never_shown(obj, context.scene, depsgraph)
        obj.jounce.hidden_faces = hidden_faces.packed(hidden)
        reason = "is never shown" if len(hidden) and hidden.all() else ""
        follower = found.get(obj)
        is_whole = follower is not None and follower.is_whole
        obj.jounce.left_out = f"follows {follower.leader.name} by itself" if is_whole else reason
        is_partial = follower is not None and not is_whole
        obj.jounce.following = shares.packed(follower.shares) if is_partial else ""
