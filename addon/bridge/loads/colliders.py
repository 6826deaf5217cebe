"""Reads the colliders of a body: the objects of a collection, and their places in a frame."""

from collections.abc import Iterator
from dataclasses import replace

import bpy
import numpy as np

from ...core.body.colliders import Colliders, Kind, Solid
from ...core.common.user_error import UserError
from ...core.flesh.settings import Quality
from ...core.mesh.surface import Surface
from ..common import compat, evaluation, registry
from ..keys import animation
from ..rig import bone_transforms, meshes
from ..rig.armature_modifier import Warn
from . import bone_capsules, deforming_colliders
from .deforming_colliders import DeformingMesh

# Object types of colliders.
TYPES = ("MESH", "EMPTY")
# Modifiers without an effect on the shape of a mesh over time; any other may deform a mesh.
RIGID_MODIFIERS = frozenset(
    (
        "ARRAY",
        "BEVEL",
        "BUILD",
        "DECIMATE",
        "EDGE_SPLIT",
        "MASK",
        "MIRROR",
        "MULTIRES",
        "NODES",
        "REMESH",
        "SCREW",
        "SKIN",
        "SOLIDIFY",
        "SUBSURF",
        "TRIANGULATE",
        "WEIGHTED_NORMAL",
        "WELD",
        "WIREFRAME",
    )
)


class ColliderReader:
    """Places of a body's colliders in a frame.

    objects, solids: in the same order; an object that deforms is there once for each patch.
    """

    def __init__(
        self,
        members: tuple[bpy.types.Object, ...],
        objects: tuple[bpy.types.Object, ...],
        solids: tuple[Solid, ...],
        deforming: dict[bpy.types.Object, DeformingMesh],
        unit: float,
    ) -> None:
        """members: the meshes of the body, the host first. unit: metres a Blender unit."""
        host = members[0]
        self.objects = objects
        self.chosen = chosen(host)
        self._members = members
        self.colliders = Colliders(solids, host.jounce.collision_friction) if solids else None
        self._deforming = deforming
        self._unit = unit

    def read(self, depsgraph: bpy.types.Depsgraph) -> np.ndarray | None:
        """Their matrices (c, 3, 4), from their own spaces to the world, metres; None without any."""
        if self.colliders is None:
            return None
        return np.concatenate([self._places(obj, depsgraph) for obj in dict.fromkeys(self.objects)])

    def _places(self, obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> np.ndarray:
        if obj in self._deforming:
            return self._deforming[obj].read(depsgraph, self._unit)
        return bone_transforms.world_matrix(obj, depsgraph)[None, :3] * self._unit

    def deforms(self, block: bpy.types.ID) -> bool:
        """True if an object acts as a collider that deforms."""
        return block in self._deforming

    def reads_otherwise(self, block: bpy.types.ID, depsgraph: bpy.types.Depsgraph) -> bool:
        """True if an object has another shape than was read, is newly left out, or no longer is."""
        host = self._members[0]
        if block not in acting(host) or soft(host, block) is not None:
            return False
        if bool(left_out(block, self._members, depsgraph)) == (block in self.objects):
            return True
        if block not in self.objects:
            return False
        known = self.colliders.solids[self.objects.index(block)]
        if deforms(block) != (block in self._deforming):
            return True
        points, triangles = (
            deforming_colliders.at_rest(block) if block in self._deforming else shape(block, depsgraph)
        )
        return not (np.array_equal(points, known.points) and np.array_equal(triangles, known.triangles))


def read(
    host: bpy.types.Object,
    members: tuple[bpy.types.Object, ...],
    surface: Surface,
    rig: bone_capsules.RestRig,
    context: bpy.types.Context,
    warn: Warn,
) -> ColliderReader:
    """The present colliders of a body; warns about omitted objects."""
    found, solids, deforming = [], [], {}
    for obj in acting(host):
        if soft(host, obj) is not None:
            continue
        why = left_out(obj, members, evaluation.depsgraph(context))
        if why:
            warn(why)
            continue
        if deforms(obj):
            deforming[obj] = DeformingMesh(obj)
            found.extend([obj] * len(deforming[obj].patches))
            solids.extend(bone_capsules.sparing_inside(patches(deforming[obj]), deforming[obj], rig, surface))
            continue
        found.append(obj)
        whole = solid(obj, context)
        # An attached body is no flesh around a bone: colliders on bones keep all of the body outside.
        is_flesh = not host.jounce.is_attached
        solids.append(bone_capsules.sparing(whole, obj, rig, surface) if is_flesh else whole)
    return ColliderReader(members, tuple(found), tuple(solids), deforming, rig.unit)


def patches(mesh: DeformingMesh) -> list[Solid]:
    """A mesh that deforms as a collider for each patch."""
    obj, none = mesh.obj, np.empty(0, np.int64)
    points, triangles, cells = mesh.points, mesh.triangles, obj.jounce_resolution
    whole = Solid(obj.name, Kind.MESH, points, triangles, cells, none, keeps_size(obj), tuple(mesh.patches))
    return [replace(whole, patch=number) for number in range(len(mesh.patches))]


def solid(obj: bpy.types.Object, context: bpy.types.Context) -> Solid:
    """An object as a collider for all points of the body."""
    points, triangles = shape(obj, evaluation.depsgraph(context))
    kind = Kind.MESH if deforms(obj) else Kind(obj.jounce_shape)
    none = np.empty(0, np.int64)
    return Solid(obj.name, kind, points, triangles, obj.jounce_resolution, none, keeps_size(obj))


def is_wanted(host: bpy.types.Object) -> bool:
    """True if a body is set to collide with a collection."""
    state = host.jounce
    return state.use_collisions and state.collision_collection is not None


def collides_with_itself(host: bpy.types.Object) -> bool:
    """True if flesh is set to stay out of its own skin."""
    state = host.jounce
    return state.is_flesh and state.use_collisions and state.self_collision


def acts_on_draft(host: bpy.types.Object) -> bool:
    """True if flesh plays as a draft that collides. A draft before a final motion does not."""
    is_draft = host.jounce.is_flesh and host.jounce.simulated_quality is Quality.DRAFT
    return is_draft and is_wanted(host) and not list(hindrances(host))


def acting(host: bpy.types.Object) -> list[bpy.types.Object]:
    """The objects selected as colliders of a body, usable or not."""
    return candidates(host) if is_wanted(host) else []


def candidates(host: bpy.types.Object) -> list[bpy.types.Object]:
    """The usable collider objects in the collection of a body."""
    collection = host.jounce.collision_collection
    return [] if collection is None else [obj for obj in collection.all_objects if obj.type in TYPES]


def chosen(host: bpy.types.Object) -> tuple[object, ...]:
    """Collision settings, for comparison."""
    return (
        host.jounce.collision_friction,
        host.jounce.self_collision,
        *(
            (
                obj.session_uid,
                obj.jounce_shape,
                obj.jounce_resolution,
                keeps_size(obj),
                obj.hide_viewport,
                (obj.empty_display_type, obj.empty_display_size) if obj.type == "EMPTY" else None,
                deforming_colliders.armature_of(obj) if deforms(obj) else None,
            )
            for obj in acting(host)
        ),
    )


def soft(host: bpy.types.Object, obj: bpy.types.Object) -> bpy.types.Object | None:
    """The host of a loose body as a soft collider; None for a rigid collider."""
    state = registry.state(obj) if obj.type == "MESH" else None
    other = None if state is None else obj if state.is_host else state.host
    if other is None or other == host or not (host.jounce.is_loose and other.jounce.is_loose):
        return None
    is_there = not other.hide_viewport and set(host.users_scene) & set(other.users_scene)
    return other if is_there and other.jounce.built_digest else None


def left_out(
    obj: bpy.types.Object, members: tuple[bpy.types.Object, ...], depsgraph: bpy.types.Depsgraph
) -> str:
    """Reason why an object of the collection is no collider, in one sentence; empty for a collider."""
    if obj in members:
        return (
            f"{obj.name} is of the body, which does not collide with itself; take it out of the collection."
        )
    is_off = obj.hide_viewport or not obj.evaluated_get(depsgraph).is_evaluated
    if depsgraph.scene.objects.get(obj.name) != obj or is_off:
        return f"{obj.name} is not in this view layer, or disabled in viewports, so nothing collides with it."
    if obj.type == "MESH" and len(obj.data.vertices) == 0:
        return f"{obj.name} has no vertices, so nothing collides with it."
    return deforming_colliders.trouble(obj, registry.is_of_body(obj), depsgraph) if deforms(obj) else ""


def deforms(obj: bpy.types.Object) -> bool:
    """True if the shape of a mesh collider may change between frames; it then acts as patches."""
    if obj.type != "MESH" or Kind(obj.jounce_shape) not in (Kind.MESH, Kind.AUTOMATIC):
        return False
    modifiers = (modifier for modifier in obj.modifiers if modifier.show_viewport)
    keys = obj.data.shape_keys
    animated = keys is not None and bone_transforms.is_animated(keys)
    return animated or any(modifier.type not in RIGID_MODIFIERS for modifier in modifiers)


def keeps_size(obj: bpy.types.Object) -> bool:
    """True if an object collides in the size of the first frame, for any later scale."""
    return obj.jounce_of_bone or obj.jounce_keeps_size


def trouble(
    obj: bpy.types.Object, members: tuple[bpy.types.Object, ...], context: bpy.types.Context
) -> tuple[str, str]:
    """Reason in a sentence why an object is no collider, or cannot be one, and the name of the fix; or
    nothing.
    """
    if soft(members[0], obj) is not None:
        return "", ""
    sentence = left_out(obj, members, evaluation.depsgraph(context))
    if sentence:
        return sentence, "use_box" if deforms(obj) and obj not in members else ""
    if not keeps_size(obj) and grows(obj):
        sentence = (
            f"The scale of {obj.name} is animated, and colliders are rigid; keep the size of the first "
            "frame, or remove the keys."
        )
        return sentence, "keep_size"
    return "", ""


def grows(obj: bpy.types.Object) -> bool:
    """True if keys of an object or of parents animate the size."""
    curves = (curve for owner in animation.owners(obj.animation_data) for curve in compat.fcurves(owner))
    scales = (curve for curve in curves if curve.data_path == "scale")
    if any(len({key.co.y for key in curve.keyframe_points}) > 1 for curve in scales):
        return True
    return obj.parent is not None and grows(obj.parent)


def shape(obj: bpy.types.Object, depsgraph: bpy.types.Depsgraph) -> tuple[np.ndarray, np.ndarray]:
    """Points (p, 3) f64 and triangles (q, 3) i64 of an object in object space, as displayed."""
    if obj.type == "EMPTY":
        return of_empty(obj)
    mesh = obj.evaluated_get(depsgraph).data
    mesh.calc_loop_triangles()
    corners = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", corners)
    return meshes.evaluated_points(obj, depsgraph), corners.reshape(-1, 3).astype(np.int64)


def of_empty(obj: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    """Points and triangles of an empty's display type: a box, a sphere, or a plane that faces along z."""
    size = obj.empty_display_size
    if obj.empty_display_type == "CUBE":
        corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
        return size * corners, np.empty((0, 3), np.int64)
    if obj.empty_display_type == "SPHERE":
        turns = 2.0 * np.pi * np.arange(16) / 16
        ring = np.stack([np.cos(turns), np.sin(turns), np.zeros(16)], axis=1)
        rings = [np.roll(ring, shift, axis=1) for shift in range(3)]
        return size * np.concatenate(rings), np.empty((0, 3), np.int64)
    square = np.array([(-1, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)], float)
    return size * square, np.array([(0, 1, 2), (0, 2, 3)])


def hindrances(host: bpy.types.Object) -> Iterator[tuple[str, str]]:
    """Reasons why a body does not collide as requested: one sentence each, and the name of the fix."""
    state = host.jounce
    if not state.use_collisions:
        return
    if state.collision_collection is None and not collides_with_itself(host):
        yield f"{host.name} collides with nothing: choose a collection, or add a ground.", ""
    if state.integrator != "backward_euler":
        yield (
            f"{host.name} cannot collide with the integrator Lively, which returns the energy of an impact.",
            "use_calm",
        )


def refuse_hindered(host: bpy.types.Object) -> None:
    """Refuses a final motion with colliders if the settings do not allow one."""
    for sentence, fix in hindrances(host) if is_wanted(host) or collides_with_itself(host) else ():
        if fix:
            raise UserError(f"{sentence} The panel Collisions has a button for it.")
