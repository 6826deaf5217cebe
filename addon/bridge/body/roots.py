"""The root of a prop in its scene, and the map Pin that Add Jounce makes of it."""

import bpy
import numpy as np

from ...core.mesh import roots
from ...core.mesh.maps import Kind
from ...core.mesh.roots import End, Root
from ...core.mesh.surface import Surface, hashed
from ..common import evaluation, units
from ..rig import armature_modifier, bone_transforms, meshes
from . import bodies, weight_maps

# Words for the root of a prop, by the place where it was found.
WORDS = {
    End.TOUCHES: "where it touches other objects",
    End.PARENT: "at the end towards its parent",
    End.ORIGIN: "at the end with its origin",
    End.THIN: "at its thin end",
    End.LOWEST: "at its lowest end",
}


def of(host: bpy.types.Object, surface: Surface, context: bpy.types.Context) -> Root | None:
    """The root of a bound body without an armature and a map Pin; None if it is stout, lies or floats."""
    members = bodies.members(host)
    if is_rigged(host):
        return None
    if surface.maps.pinned is not None:
        return None
    if not roots.is_slender(surface.points, surface.triangles):
        return None
    unit = units.metres_per_unit(context.scene)
    origin = np.array(host.matrix_world.translation) * unit
    gaps = gaps_of(surface, members, context)
    return roots.found(surface.points, surface.triangles, gaps, origin, parent_of(host, unit))


def is_rigged(host: bpy.types.Object) -> bool:
    """True if an armature deforms a mesh of a body."""
    return any(
        armature_modifier.moving([obj]) and obj.find_armature() is not None for obj in bodies.members(host)
    )


def parent_of(host: bpy.types.Object, unit: float) -> np.ndarray | None:
    """The place (3,) in metres where an object is parented: its parent's origin, or its bone's head."""
    parent = host.parent
    if parent is None:
        return None
    if host.parent_type == "BONE" and host.parent_bone in parent.pose.bones:
        return np.array(parent.matrix_world @ parent.pose.bones[host.parent_bone].head) * unit
    return np.array(parent.matrix_world.translation) * unit


def gaps_of(
    surface: Surface, members: tuple[bpy.types.Object, ...], context: bpy.types.Context
) -> np.ndarray:
    """Distance (p,) of each point from the nearest other shown mesh, in metres; infinite beyond reach."""
    unit = units.metres_per_unit(context.scene)
    reach = roots.NEAR * surface.diagonal / unit
    places, found = surface.points / unit, np.full(len(surface.points), np.inf)
    depsgraph = evaluation.depsgraph(context)
    for obj in context.scene.objects:
        if obj.type == "MESH" and obj not in members and obj.visible_get() and len(obj.data.polygons):
            shown = obj.evaluated_get(depsgraph)
            found = np.minimum(found, gaps_from(shown, places, reach))
    return found * unit


def together(objects: list[bpy.types.Object], context: bpy.types.Context) -> list[list[bpy.types.Object]]:
    """Meshes without a rig in groups: those that touch, and those above and below each other as parents."""
    depsgraph, groups = evaluation.depsgraph(context), []
    for obj in objects:
        kin = [group for group in groups if any(belong(obj, other, depsgraph) for other in group)]
        groups = [group for group in groups if group not in kin]
        groups.append([*(other for group in kin for other in group), obj])
    return groups


def belong(one: bpy.types.Object, other: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> bool:
    """True if one of two meshes is above the other as a parent, or they touch."""
    if one in bone_transforms.ancestors(other) or other in bone_transforms.ancestors(one):
        return True
    placed = [
        units.points_in_metres(meshes.rest_points(o), np.array(o.matrix_world), 1.0) for o in (one, other)
    ]
    reach = roots.NEAR * min(float(np.linalg.norm(np.ptp(points, axis=0))) for points in placed)
    pairs = zip(placed, (other, one), strict=True)
    return any(
        np.isfinite(gaps_from(beside.evaluated_get(depsgraph), points, reach)).any()
        for points, beside in pairs
    )


def gaps_from(shown: bpy.types.Object, places: np.ndarray, reach: float) -> np.ndarray:
    """Distance (p,) of world places (p, 3) from an evaluated mesh, infinite beyond reach."""
    matrix = np.array(shown.matrix_world, dtype=np.float64)
    found = np.full(len(places), np.inf)
    if np.linalg.matrix_rank(matrix[:3, :3]) < 3 or not len(shown.data.polygons):
        return found
    box = np.array([matrix[:3, :3] @ np.array(corner) + matrix[:3, 3] for corner in shown.bound_box])
    inside = ((places >= box.min(axis=0) - reach) & (places <= box.max(axis=0) + reach)).all(axis=1)
    back = np.linalg.inv(matrix)
    farthest = reach * float(np.linalg.norm(back[:3, :3], 2))
    for row in np.flatnonzero(inside):
        place = places[row]
        own = (back[:3, :3] @ place + back[:3, 3]).tolist()
        hit, local, _, _ = shown.closest_point_on_mesh(own, distance=farthest)
        if hit:
            found[row] = np.linalg.norm(matrix[:3, :3] @ np.array(local) + matrix[:3, 3] - place)
    return np.where(found <= reach, found, np.inf)


def pin(host: bpy.types.Object, surface: Surface, weights: np.ndarray) -> None:
    """Makes a map Pin of weights (p,); each mesh remembers them, and Remove takes them off again."""
    objects = bodies.fleshed(host)
    name = weight_maps.group_name(host, objects, Kind.PIN)
    host.jounce.pin_group = name
    for obj, part in zip(objects, surface.parts, strict=True):
        before = obj.vertex_groups.active_index
        weight_maps.new(obj, name, weights[part.points])
        obj.vertex_groups.active_index = before
        obj.jounce.made_pin = name
        obj.jounce.made_pin_digest = painted(obj, name)


def forget(obj: bpy.types.Object) -> None:
    """Takes off the map that was made on a mesh, unless the artist has painted on it."""
    name = obj.jounce.made_pin
    if name not in obj.vertex_groups or painted(obj, name) != obj.jounce.made_pin_digest:
        return
    before = obj.vertex_groups.active_index
    own = obj.vertex_groups[name].index
    obj.vertex_groups.remove(obj.vertex_groups[name])
    obj.vertex_groups.active_index = before - (before > own)


def painted(obj: bpy.types.Object, name: str) -> str:
    """Hash of the weights of a vertex group."""
    return hashed(
        (np.round(meshes.group_weights(obj)[:, obj.vertex_groups[name].index], weight_maps.DIGITS),), ()
    )


def sentence(host: bpy.types.Object, root: Root) -> str:
    """Report of a root."""
    return (
        f"{host.name} is pinned {WORDS[root.end]}, and swings from there; paint the map Pin to fix it "
        "elsewhere, or make it Loose in the panel Body."
    )
