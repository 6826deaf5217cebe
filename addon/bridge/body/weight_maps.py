"""Reads the vertex groups that artists paint maps in, and makes them.

A map is a vertex group of the same name on every mesh of a body; the host names it. A vertex outside of the
group counts as 0. A mesh without the group, or an empty name, is as if the map were not there, and so is a
new group.
"""

from collections.abc import Iterator
from dataclasses import replace

import bmesh
import bpy
import numpy as np

from ...core.maps import USUAL, Kind, neutral
from ...core.user_error import UserError
from ..common import compat
from . import meshes

# For each kind: the setting on the host that names its group, the name of a new group.
SETTINGS = {
    Kind.STIFFNESS: ("stiffness_group", "Stiffness"),
    Kind.LEAK: ("leak_group", "Leak"),
    Kind.PIN: ("pin_group", "Pin"),
    Kind.STRENGTH: ("strength_group", "Strength"),
    Kind.MUSCLE: ("muscle_group", "Muscle"),
}

# The settings on the host that say what the weights of the map of stiffness mean.
SCALE = ("stiffness_soft", "stiffness_stiff", "stiffness_centred")

# The meshes of a body.
Objects = tuple[bpy.types.Object, ...]


def read(host: bpy.types.Object, objects: Objects, groups: list[np.ndarray]) -> dict[Kind, np.ndarray]:
    """The weights (p,) of the maps of a body that are there, its meshes one after the other.

    groups: for each mesh the weights (p, g) of its groups.
    """
    scale = host.jounce.stiffness_scale()
    return {
        kind: painted(name, objects, groups, neutral(kind, scale))
        for kind, (setting, _) in SETTINGS.items()
        if any((name := getattr(host.jounce, setting)) in obj.vertex_groups for obj in objects)
    }


def read_muscles(host: bpy.types.Object, objects: Objects, groups: list[np.ndarray]) -> list[np.ndarray]:
    """For each muscle of a body how much of its flesh (p,) it is; groups as for `read`."""
    names = (muscle.muscle_group for muscle in host.jounce.muscles)
    return [painted(name, objects, groups, USUAL[Kind.MUSCLE]) for name in names]


def painted(name: str, objects: Objects, groups: list[np.ndarray], missing: float) -> np.ndarray:
    """The weights (p,) of a vertex group on all meshes. missing: those of meshes without it."""
    parts = [
        weights[:, obj.vertex_groups[name].index]
        if name in obj.vertex_groups
        else np.full(len(weights), missing)
        for obj, weights in zip(objects, groups, strict=True)
    ]
    return np.ascontiguousarray(np.concatenate(parts))


def named(host: bpy.types.Object, kind: Kind, muscle: int) -> bpy.types.PropertyGroup:
    """What names the group of a map of a body. muscle: whose map, of those of muscles; 0 is the first."""
    if kind is not Kind.MUSCLE:
        return host.jounce
    muscles = host.jounce.muscles
    if muscle >= len(muscles):
        raise UserError(f"{host.name} has no muscle {muscle + 1}; it has {len(muscles)}.")
    return muscles[muscle]


def group_name(host: bpy.types.Object, objects: Objects, kind: Kind, muscle: int = 0) -> str:
    """The name of the group of a map of a body, or the one that a new map gets.

    That is one which no vertex group and no bone of the body has, as these say something else.
    """
    setting, default = SETTINGS[kind]
    named_so = getattr(named(host, kind, muscle), setting)
    if named_so:
        return named_so
    taken = {name for obj in objects for name in names_on(obj)}
    candidates = (default, *(f"{default}.{number:03}" for number in range(1, len(taken) + 1)))
    return next(name for name in candidates if name not in taken)


def names_on(obj: bpy.types.Object) -> Iterator[str]:
    """The names of the vertex groups of a mesh, and of the bones of all armatures that may move it."""
    yield from obj.vertex_groups.keys()
    armatures = {obj.parent, *(modifier.object for modifier in obj.modifiers if modifier.type == "ARMATURE")}
    for armature in armatures:
        if armature is not None and armature.type == "ARMATURE":
            yield from armature.data.bones.keys()


def is_on(host: bpy.types.Object, obj: bpy.types.Object, kind: Kind, muscle: int = 0) -> bool:
    """Whether a mesh has the group of a map."""
    return getattr(named(host, kind, muscle), SETTINGS[kind][0]) in obj.vertex_groups


def has_begun(host: bpy.types.Object, objects: Objects, kind: Kind, muscle: int = 0) -> bool:
    """Whether any of a body's meshes has the group of a map."""
    return any(is_on(host, obj, kind, muscle) for obj in objects)


def unpainted(host: bpy.types.Object, objects: Objects, kind: Kind) -> float:
    """The weight that says the same as no map, in the map of a body or in one that begins."""
    scale = host.jounce.stiffness_scale()
    return neutral(kind, scale if has_begun(host, objects, kind) else replace(scale, centred=True))


def values(
    host: bpy.types.Object, objects: Objects, obj: bpy.types.Object, kind: Kind, muscle: int = 0
) -> np.ndarray:
    """The values (p,) of a map on one mesh of a body, with or without its group."""
    name = group_name(host, objects, kind, muscle)
    if name not in obj.vertex_groups:
        return np.full(len(obj.data.vertices), unpainted(host, objects, kind))
    return meshes.group_weights(obj)[:, obj.vertex_groups[name].index]


def ensure(
    host: bpy.types.Object, objects: Objects, obj: bpy.types.Object, kind: Kind, muscle: int = 0
) -> bpy.types.VertexGroup:
    """The group of a map on a mesh of a body, made where there is none and filled so that nothing changes."""
    name, before = group_name(host, objects, kind, muscle), values(host, objects, obj, kind, muscle)
    if kind is Kind.STIFFNESS and not has_begun(host, objects, kind):
        host.jounce.centre_stiffness()
    setattr(named(host, kind, muscle), SETTINGS[kind][0], name)
    if name in obj.vertex_groups:
        return obj.vertex_groups[name]
    # A new group becomes the active one, which weight painting wants here.
    group = obj.vertex_groups.new(name=name)
    fill(obj, group, before)
    return group


def activate(obj: bpy.types.Object, name: str) -> None:
    """Makes a vertex group the active one, which weight painting works on."""
    obj.vertex_groups.active = obj.vertex_groups[name]


def fill(obj: bpy.types.Object, group: bpy.types.VertexGroup, values: np.ndarray) -> None:
    """Gives each vertex its value (p,); one call for all vertices of equal value."""
    values = np.round(np.clip(values, 0.0, 1.0), 4)
    if obj.mode == "EDIT":
        fill_edited(obj, group, values)
        return
    group.remove(range(len(obj.data.vertices)))
    for value in np.unique(values):
        if value > 0.0:
            group.add(np.flatnonzero(values == value).tolist(), float(value), "REPLACE")


def fill_edited(obj: bpy.types.Object, group: bpy.types.VertexGroup, values: np.ndarray) -> None:
    """The same in Edit Mode, where weights are those of the mesh that is edited."""
    edited = bmesh.from_edit_mesh(obj.data)
    layer = edited.verts.layers.deform.verify()
    for vertex, value in zip(edited.verts, values.tolist(), strict=True):
        weights = vertex[layer]
        if value > 0.0:
            weights[group.index] = value
        elif group.index in weights:
            del weights[group.index]
    bmesh.update_edit_mesh(obj.data, loop_triangles=False, destructive=False)
    meshes.bring_up_to_date(obj)


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
