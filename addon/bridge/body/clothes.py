"""Clothes of a character in its scene: bodies of their own, attached to the rig of their wearer.

A mesh that is a cloth leaves the body of its wearer. A loose part of a mesh is shown by an object of its own,
a copy with the same modifiers; in the artist's mesh, which stays as it is, a modifier *Mask* hides it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import bmesh
import bpy
import numpy as np

from ...core.mesh import clothes
from ...core.mesh.clothes import Cloth
from ...core.mesh.surface import Part
from ...core.rig.limbs import Skeleton
from ..common import linked_mesh_proxy, marks, registry
from ..rig import bone_core, meshes
from . import bodies, hard_parts, weight_maps
from .bodies import BodyScene

# Least share of a mesh's vertices in clothes of a mesh that is a cloth as a whole.
WHOLE = 0.8
# Name of the vertex group and the modifier that hide loose parts.
MASK = "Cloth"
# Names of objects for loose parts around legs, and elsewhere.
RING, FLAP = "Skirt", "Cape"


@dataclass(frozen=True, eq=False)
class Garment:
    """A body that its wearer's rig holds. hold: (p,) in [0, 1], weights of its map Pin."""

    host: bpy.types.Object
    hold: np.ndarray


def found(scene: BodyScene) -> dict[bpy.types.Object, list[Cloth]]:
    """The clothes on each mesh of a bound body; rows are those of the mesh."""
    surface = scene.surface
    skeleton, weights = skeleton_of(scene)
    slices = [part.points for part in surface.parts]
    every = clothes.found(surface.points, surface.triangles, weights, slices, skeleton)
    on: dict[bpy.types.Object, list[Cloth]] = {}
    for obj, part in zip(scene.objects, surface.parts, strict=True):
        own = [of_part(each, part) for each in every if part.points.start <= each.rows[0] < part.points.stop]
        hard = hard_parts.hard_points(obj) | hard_parts.hinted_points(obj) if own else None
        own = [each for each in own if not hard[each.rows].any()]
        if own and can_wear(obj, is_whole(obj, own)):
            on[obj] = own
    return on


def of_part(cloth: Cloth, part: Part) -> Cloth:
    """A cloth with the rows of its mesh."""
    return Cloth(cloth.rows - part.points.start, cloth.hold, cloth.is_ring)


def skeleton_of(scene: BodyScene) -> tuple[Skeleton, np.ndarray]:
    """All bones of the armatures of a body at the binding, and the weights (p, b) of the points."""
    heads, parents, row_of = [], [], {}
    for armature in scene.reader.armatures:
        who = next(m.carrier for m in scene.reader.movers if m.armature == armature)
        world = bone_core.armature_matrix(scene.reader.carried[who][0], armature)
        for bone in armature.data.bones:
            row_of[armature, bone.name] = len(heads)
            parents.append(-1 if bone.parent is None else row_of[armature, bone.parent.name])
            heads.append((world @ np.append(np.array(bone.head_local), 1.0))[:3] * scene.reader.scale)
    weights = np.zeros((len(scene.surface.points), len(heads)))
    for column, mover in enumerate(scene.reader.movers):
        if mover.armature is not None:
            weights[:, row_of[mover.armature, mover.bone]] += scene.surface.weights[:, column]
    return Skeleton(np.array(heads).reshape(-1, 3), np.array(parents, int)), weights


def is_whole(obj: bpy.types.Object, own: list[Cloth]) -> bool:
    """True if a mesh with these clothes is a cloth as a whole."""
    return sum(len(each.rows) for each in own) >= WHOLE * meshes.vertex_count(obj)


def can_wear(obj: bpy.types.Object, whole: bool) -> bool:
    """True if a mesh, or a copy of a part of it, can be an attached body."""
    is_own = not linked_mesh_proxy.is_foreign(obj.data) and obj.override_library is None
    return is_own and bodies.are_linear((obj,)) and (whole or obj.data.shape_keys is None)


def taken_off(host: bpy.types.Object, on: dict[bpy.types.Object, list[Cloth]]) -> list[Garment]:
    """Takes clothes out of the body of their wearer; the result are hosts to be."""
    garments = []
    for obj, own in on.items():
        if is_whole(obj, own):
            obj.jounce.property_unset("host")
            hold = np.ones(meshes.vertex_count(obj))
            for each in own:
                hold[each.rows] = each.hold
            garments.append(Garment(obj, hold))
        else:
            garments += [Garment(cut(obj, each), each.hold) for each in own]
            hide(obj, np.concatenate([each.rows for each in own]))
    for garment in garments:
        garment.host.jounce.is_host, garment.host.jounce.wearer = True, host
    return garments


def cut(obj: bpy.types.Object, cloth: Cloth) -> bpy.types.Object:
    """A copy of an object with a loose part of its mesh alone."""
    made = obj.copy()
    made.data = obj.data.copy()
    made.name = made.data.name = f"{obj.name} {RING if cloth.is_ring else FLAP}"
    for block in (made, made.data):
        marks.put(block, marks.CLOTH)
    made.property_unset("jounce")
    for collection in obj.users_collection:
        collection.objects.link(made)
    edited = bmesh.new()
    edited.from_mesh(made.data)
    kept = np.isin(np.arange(len(edited.verts)), cloth.rows)
    others = [vertex for vertex, keep in zip(edited.verts, kept.tolist(), strict=True) if not keep]
    bmesh.ops.delete(edited, geom=others, context="VERTS")
    edited.to_mesh(made.data)
    edited.free()
    made.jounce.cut_from = obj
    return made


def hide(obj: bpy.types.Object, rows: np.ndarray) -> None:
    """Hides vertices of a mesh that objects of their own show."""
    share = np.zeros(meshes.vertex_count(obj))
    share[rows] = 1.0
    name = weight_maps.free_name((obj,), MASK)
    group, active = obj.vertex_groups.active_index, obj.modifiers.active
    weight_maps.new(obj, name, share)
    obj.vertex_groups.active_index = group
    modifier = obj.modifiers.new(MASK, "MASK")
    modifier.vertex_group, modifier.invert_vertex_group = name, True
    modifier.show_expanded = False
    obj.modifiers.active = active
    obj.jounce.made_mask = name


def show(obj: bpy.types.Object) -> None:
    """Takes the mask of `hide` off a mesh."""
    name = obj.jounce.made_mask
    for modifier in [m for m in obj.modifiers if m.type == "MASK" and name and m.vertex_group == name]:
        obj.modifiers.remove(modifier)
    if name in obj.vertex_groups:
        active, own = obj.vertex_groups.active_index, obj.vertex_groups[name].index
        obj.vertex_groups.remove(obj.vertex_groups[name])
        obj.vertex_groups.active_index = active - (active > own)
    obj.jounce.property_unset("made_mask")


def forget(obj: bpy.types.Object) -> None:
    """Takes Jounce's data off a mesh, and an object that was cut from another one out of the file."""
    source = registry.linked(obj, "cut_from")
    if not marks.has(obj, marks.CLOTH):
        if obj.jounce.made_mask:
            show(obj)
        obj.property_unset("jounce")
        return
    mesh = obj.data
    bpy.data.objects.remove(obj)
    if mesh.users == 0:
        bpy.data.meshes.remove(mesh)
    registry.look_again()
    if source is not None and registry.state(source) is not None and not any(cuts_of(source)):
        show(source)


def cuts_of(source: bpy.types.Object) -> Iterable[bpy.types.Object]:
    """The objects that show loose parts of a mesh."""
    return (obj for obj in registry.meshes() if registry.linked(obj, "cut_from") == source)


def swinging(garments: list[Garment], context: bpy.types.Context) -> np.ndarray:
    """The places (k, 3) of the points of clothes that nothing holds firmly, at the binding, metres."""
    places = (bodies.rest_places(each.host, context.scene)[each.hold < 0.5] for each in garments)
    return np.concatenate(list(places))
