"""Reads and makes the vertex groups of painted maps.

A map is a vertex group of the same name on every mesh of a body, named by the host. Vertices outside of the
group count as 0. A mesh without the group, an empty name and a new group are all equivalent to no map.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import bmesh
import bpy
import numpy as np

from ...core.common.user_error import UserError
from ...core.mesh.maps import USUAL, Kind, neutral
from ..common import compat
from ..rig import meshes

# For each kind the host's setting with the group's name, and the name of a new group.
SETTINGS = {
    Kind.STIFFNESS: ("stiffness_group", "Stiffness"),
    Kind.LEAK: ("leak_group", "Leak"),
    Kind.PIN: ("pin_group", "Pin"),
    Kind.STRENGTH: ("strength_group", "Strength"),
    Kind.MUSCLE: ("muscle_group", "Muscle"),
}

# The host's settings for the meaning of the stiffness map.
SCALE = ("stiffness_soft", "stiffness_stiff", "stiffness_centred")

# Digits of the weights of a new group.
DIGITS = 4

# The meshes of a body.
Objects = tuple[bpy.types.Object, ...]


def read(host: bpy.types.Object, objects: Objects, groups: list[np.ndarray]) -> dict[Kind, np.ndarray]:
    """The weights (p,) of a body's existing maps, concatenated over its meshes.

    The pins of an attached body are included without a map. groups: for each mesh the weights (p, g) of its
    groups.
    """
    scale, is_attached = host.jounce.stiffness_scale(), host.jounce.is_attached
    return {
        kind: painted(name, objects, groups, neutral(kind, scale, is_attached))
        for kind, (setting, _) in SETTINGS.items()
        if any((name := getattr(host.jounce, setting)) in obj.vertex_groups for obj in objects)
        or (kind is Kind.PIN and is_attached)
    }


def read_muscles(host: bpy.types.Object, objects: Objects, groups: list[np.ndarray]) -> list[np.ndarray]:
    """Share (p,) of each muscle in the body's flesh; groups as for `read`."""
    names = (muscle.muscle_group for muscle in host.jounce.muscles)
    return [painted(name, objects, groups, USUAL[Kind.MUSCLE]) for name in names]


def read_parts(host: bpy.types.Object, objects: Objects, groups: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Share (p,) of each of the artist's parts in the body; groups as for `read`."""
    names = (part.name for part in host.jounce.parts if part.own)
    return {name: painted(name, objects, groups, 0.0) for name in names}


def of_part(objects: Objects, name: str) -> np.ndarray:
    """Share (p,) of a part of the artist's, as painted at present."""
    return painted(name, objects, [meshes.group_weights(obj) for obj in objects], 0.0)


def painted(name: str, objects: Objects, groups: list[np.ndarray], missing: float) -> np.ndarray:
    """The weights (p,) of a vertex group on all meshes. missing: weight for meshes without the group."""
    parts = [
        weights[:, obj.vertex_groups[name].index]
        if name in obj.vertex_groups
        else np.full(len(weights), missing)
        for obj, weights in zip(objects, groups, strict=True)
    ]
    return np.ascontiguousarray(np.concatenate(parts))


def named(host: bpy.types.Object, kind: Kind, muscle: int) -> bpy.types.PropertyGroup:
    """Owner of a map's group name. muscle: index for muscle maps; 0 is the first."""
    if kind is not Kind.MUSCLE:
        return host.jounce
    muscles = host.jounce.muscles
    if muscle >= len(muscles):
        raise UserError(f"{host.name} has no muscle {muscle + 1}; it has {len(muscles)}.")
    return muscles[muscle]


def group_name(host: bpy.types.Object, objects: Objects, kind: Kind, muscle: int = 0) -> str:
    """The name of the group of a body's map, or the name for a new map.

    A new name differs from all vertex groups and bones of the body, which have other meanings.
    """
    setting, default = SETTINGS[kind]
    named_so = getattr(named(host, kind, muscle), setting)
    if named_so:
        return named_so
    return free_name(objects, default)


def free_name(objects: Objects, default: str, others: Iterable[str] = ()) -> str:
    """A name for a new group that no vertex group and no bone of the body has, and none of others."""
    taken = {name for obj in objects for name in names_on(obj)}.union(others)
    candidates = (default, *(f"{default}.{number:03}" for number in range(1, len(taken) + 1)))
    return next(name for name in candidates if name not in taken)


def names_on(obj: bpy.types.Object) -> Iterator[str]:
    """The names of a mesh's vertex groups, and of the bones of all its possible armatures."""
    yield from obj.vertex_groups.keys()
    armatures = {obj.parent, *(modifier.object for modifier in obj.modifiers if modifier.type == "ARMATURE")}
    for armature in armatures:
        if armature is not None and armature.type == "ARMATURE":
            yield from armature.data.bones.keys()


def is_on(host: bpy.types.Object, obj: bpy.types.Object, kind: Kind, muscle: int = 0) -> bool:
    """True if a mesh has the group of a map."""
    return getattr(named(host, kind, muscle), SETTINGS[kind][0]) in obj.vertex_groups


def has_begun(host: bpy.types.Object, objects: Objects, kind: Kind, muscle: int = 0) -> bool:
    """True if any mesh of a body has the group of a map."""
    return any(is_on(host, obj, kind, muscle) for obj in objects)


def unpainted(host: bpy.types.Object, objects: Objects, kind: Kind) -> float:
    """The weight equivalent to no map, in an existing or new map of a body."""
    scale = host.jounce.stiffness_scale()
    scale = scale if has_begun(host, objects, kind) else replace(scale, centred=True)
    return neutral(kind, scale, host.jounce.is_attached)


def values(
    host: bpy.types.Object, objects: Objects, obj: bpy.types.Object, kind: Kind, muscle: int = 0
) -> np.ndarray:
    """The values (p,) of a map on a mesh of a body, with or without the group."""
    name = group_name(host, objects, kind, muscle)
    if name not in obj.vertex_groups:
        return np.full(len(obj.data.vertices), unpainted(host, objects, kind))
    return meshes.group_weights(obj)[:, obj.vertex_groups[name].index]


def ensure(
    host: bpy.types.Object, objects: Objects, obj: bpy.types.Object, kind: Kind, muscle: int = 0
) -> bpy.types.VertexGroup:
    """The group of a map on a mesh; a new group is filled with values that change nothing."""
    name, before = group_name(host, objects, kind, muscle), values(host, objects, obj, kind, muscle)
    if kind is Kind.STIFFNESS and not has_begun(host, objects, kind):
        host.jounce.centre_stiffness()
    setattr(named(host, kind, muscle), SETTINGS[kind][0], name)
    if name in obj.vertex_groups:
        return obj.vertex_groups[name]
    # A new group becomes active, as weight painting requires.
    group = obj.vertex_groups.new(name=name)
    fill(obj, group, before)
    return group


def new(obj: bpy.types.Object, name: str, values: np.ndarray) -> None:
    """A new vertex group with a value (p,) for each vertex."""
    fill(obj, obj.vertex_groups.new(name=name), values)


def activate(obj: bpy.types.Object, name: str) -> None:
    """Activates a vertex group for weight painting; makes a missing one."""
    if name not in obj.vertex_groups:
        obj.vertex_groups.new(name=name)
    obj.vertex_groups.active = obj.vertex_groups[name]


def fill(obj: bpy.types.Object, group: bpy.types.VertexGroup, values: np.ndarray) -> None:
    """Gives each vertex its value (p,), rounded to few distinct ones; vertices with 0 leave the group."""
    values = np.round(np.clip(values, 0.0, 1.0), DIGITS)
    put(obj, group, np.where(values > 0.0, values, np.nan))


def put(obj: bpy.types.Object, group: bpy.types.VertexGroup, values: np.ndarray) -> None:
    """Gives each vertex its value (p,) in [0, 1], NaN outside of the group; one call for each value."""
    if obj.mode == "EDIT":
        fill_edited(obj, group, values)
        return
    group.remove(range(len(obj.data.vertices)))
    for value in np.unique(values[np.isfinite(values)]):
        group.add(np.flatnonzero(values == value).tolist(), float(value), "REPLACE")


def exact(obj: bpy.types.Object, group: bpy.types.VertexGroup) -> np.ndarray:
    """The weights (p,) of a vertex group, NaN outside of it."""
    values, index = np.full(len(obj.data.vertices), np.nan), group.index
    for vertex in obj.data.vertices:
        for entry in vertex.groups:
            if entry.group == index:
                values[vertex.index] = entry.weight
    return values


def fill_edited(obj: bpy.types.Object, group: bpy.types.VertexGroup, values: np.ndarray) -> None:
    """The same in Edit Mode, with the weights of the edited mesh."""
    edited = bmesh.from_edit_mesh(obj.data)
    layer = edited.verts.layers.deform.verify()
    for vertex, value in zip(edited.verts, values.tolist(), strict=True):
        weights = vertex[layer]
        if np.isfinite(value):
            weights[group.index] = value
        elif group.index in weights:
            del weights[group.index]
    bmesh.update_edit_mesh(obj.data, loop_triangles=False, destructive=False)
    meshes.bring_up_to_date(obj)


def selected(obj: bpy.types.Object) -> np.ndarray:
    """Selected vertices, (p,) bool."""
    flags = np.empty(len(obj.data.vertices), bool)
    obj.data.vertices.foreach_get("select", flags)
    return flags


def share_of_bones(obj: bpy.types.Object, armature: bpy.types.Object) -> np.ndarray:
    """Share (p,) in [0, 1] of the selected bones in moving each vertex."""
    names = {bone.name for bone in armature.data.bones if bone.use_deform}
    chosen = names & compat.selected_bones(armature)
    groups = meshes.group_weights(obj)
    moving = groups[:, [group.index for group in obj.vertex_groups if group.name in names]].sum(axis=1)
    picked = groups[:, [group.index for group in obj.vertex_groups if group.name in chosen]].sum(axis=1)
    return np.divide(picked, moving, out=np.zeros(len(groups)), where=moving > 0.0)
