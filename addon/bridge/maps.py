"""Reads the vertex groups that artists paint maps in, and makes them.

A map is a vertex group of the same name on every mesh of a body; the host names it. A vertex outside of the
group counts as 0. A mesh without the group, or an empty name, is as if the map were not there.
"""

import bpy
import numpy as np

from ..core.maps import Kind, Maps, maps
from . import compat, meshes

# For each kind: the setting on the host that names its group, the name of a new group, what counts on a mesh
# without the group.
SETTINGS = {
    Kind.STIFFNESS: ("stiffness_group", "Stiffness", 0.0),
    Kind.LEAK: ("leak_group", "Leak", 1.0),
    Kind.PIN: ("pin_group", "Pin", 0.0),
    Kind.STRENGTH: ("strength_group", "Strength", 1.0),
}


def read(host: bpy.types.Object, objects: tuple[bpy.types.Object, ...], groups: list[np.ndarray]) -> Maps:
    """The maps of a body, its meshes one after the other; groups: for each (p, g) weights of its groups."""
    painted = {}
    for kind, (setting, _, missing) in SETTINGS.items():
        name = getattr(host.jounce, setting)
        if not any(name in obj.vertex_groups for obj in objects):
            continue
        parts = [
            weights[:, obj.vertex_groups[name].index]
            if name in obj.vertex_groups
            else np.full(len(weights), missing)
            for obj, weights in zip(objects, groups, strict=True)
        ]
        painted[kind] = np.ascontiguousarray(np.concatenate(parts))
    return maps(painted, host.jounce.stiffness_soft, host.jounce.stiffness_stiff)


def is_on(host: bpy.types.Object, obj: bpy.types.Object, kind: Kind) -> bool:
    """Whether a mesh has the group of a map."""
    return getattr(host.jounce, SETTINGS[kind][0]) in obj.vertex_groups


def values(host: bpy.types.Object, obj: bpy.types.Object, kind: Kind) -> np.ndarray:
    """The values (p,) of a map on one mesh, with or without its group."""
    setting, default, missing = SETTINGS[kind]
    name = getattr(host.jounce, setting) or default
    if name not in obj.vertex_groups:
        return np.full(len(obj.data.vertices), missing)
    return meshes.group_weights(obj)[:, obj.vertex_groups[name].index]


def ensure(host: bpy.types.Object, obj: bpy.types.Object, kind: Kind) -> bpy.types.VertexGroup:
    """The group of a map on a mesh, made where there is none, filled with what it would count as without."""
    setting, default, missing = SETTINGS[kind]
    name = getattr(host.jounce, setting) or default
    setattr(host.jounce, setting, name)
    if name in obj.vertex_groups:
        return obj.vertex_groups[name]
    # A new group becomes the active one, which weight painting wants here.
    group = obj.vertex_groups.new(name=name)
    fill(obj, group, np.full(len(obj.data.vertices), missing))
    return group


def activate(obj: bpy.types.Object, name: str) -> None:
    """Makes a vertex group the active one, which weight painting works on."""
    obj.vertex_groups.active = obj.vertex_groups[name]


def fill(obj: bpy.types.Object, group: bpy.types.VertexGroup, values: np.ndarray) -> None:
    """Gives each vertex its value (p,); one call for all vertices of equal value."""
    values = np.round(np.clip(values, 0.0, 1.0), 4)
    group.remove(range(len(obj.data.vertices)))
    for value in np.unique(values):
        if value > 0.0:
            group.add(np.flatnonzero(values == value).tolist(), float(value), "REPLACE")


def selected(obj: bpy.types.Object) -> np.ndarray:
    """Which vertices are selected, (p,) bool."""
    flags = np.empty(len(obj.data.vertices), bool)
    obj.data.vertices.foreach_get("select", flags)
    return flags


def share_of_bones(obj: bpy.types.Object, armature: bpy.types.Object) -> np.ndarray:
    """The share, (p,) in [0, 1], that the selected bones of an armature have in moving each vertex."""
    names = {bone.name for bone in armature.data.bones if bone.use_deform}
    chosen = names & compat.selected_bones(armature)
    groups = meshes.group_weights(obj)
    moving = groups[:, [group.index for group in obj.vertex_groups if group.name in names]].sum(axis=1)
    picked = groups[:, [group.index for group in obj.vertex_groups if group.name in chosen]].sum(axis=1)
    return np.divide(picked, moving, out=np.zeros(len(groups)), where=moving > 0.0)
