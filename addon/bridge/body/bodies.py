"""Finds the meshes of a body and reads them all as one surface."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain

import bpy
import jounce
import numpy as np

from ...core.body.loose import LooseBody
from ...core.body.muscles import Muscle, Muscles, directions_of_bones
from ...core.common.user_error import UserError, passing_on
from ...core.mesh.folds import factors
from ...core.mesh.maps import Maps, attached, maps, product
from ...core.mesh.surface import Part, Surface
from ...core.rig import own_parts
from ...core.rig.bone_core import BoneCore
from ...core.rig.bones import Counting, merged_into_picked
from ..common import evaluation, registry, units
from ..loads import colliders
from ..loads.animated_settings import FeelReader
from ..loads.bone_capsules import RestRig
from ..loads.colliders import ColliderReader
from ..loads.force_fields import ForceReader
from ..rig import armature_modifier, bone_core, bone_transforms, driven_keys, meshes, rig_stack
from ..rig.armature_modifier import Warn
from . import hard_parts, stitches, weight_maps


@dataclass(frozen=True)
class Painted:
    """Maps of a surface without its folds, and factors (p,) from the artist's parts, None for none."""

    maps: Maps = Maps()
    strength: np.ndarray | None = None
    softness: np.ndarray | None = None


@dataclass(frozen=True)
class BodyScene:
    """A body in the scene: meshes in order, their surface, and the reader of the transforms.

    muscles: None without any. companions: the other loose bodies in contact, in order. meshes: the
    session_uid of each object's mesh. shares: of the points in the artist's parts. painted: what the maps of
    the surface are made of.
    """

    host: bpy.types.Object
    objects: tuple[bpy.types.Object, ...]
    surface: Surface
    reader: bone_transforms.PoseReader
    forces: ForceReader
    feel: FeelReader
    colliders: ColliderReader
    muscles: Muscles | None
    companions: "tuple[Companion, ...]" = ()
    meshes: tuple[int, ...] = ()
    shares: own_parts.Shares = field(default_factory=dict)
    painted: Painted = Painted()

    @property
    def together(self) -> "tuple[BodyScene, ...]":
        """This body and all companions."""
        return (self, *(companion.scene for companion in self.companions))

    def is_as_read(self) -> bool:
        """True if the armatures have their bones and the objects their meshes."""
        return self.reader.has_its_bones() and self.exchanged() is None

    def exchanged(self) -> bpy.types.Object | None:
        """An object with another mesh or other vertices than at the reading, None without one."""
        for obj, part, uid in zip(self.objects, self.surface.parts, self.meshes, strict=True):
            count = part.points.stop - part.points.start
            if obj.data.session_uid != uid or meshes.vertex_count(obj) != count:
                return obj
        return None


@dataclass(frozen=True)
class Companion:
    """A loose body in contact with another one, and its built body."""

    scene: BodyScene
    body: LooseBody


def host_of(obj: bpy.types.Object) -> bpy.types.Object | None:
    """The host of the body of a mesh, or of the first body moved by an armature; None without one."""
    return next(hosts_of(obj), None)


def hosts_of(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """The hosts of the bodies that contain a mesh or are moved by an armature, possibly repeated."""
    if obj.type == "ARMATURE":
        meshes_of_bodies = registry.meshes()
        deformed = (o for o in meshes_of_bodies if o.find_armature() == obj)
        hung = (o for o in meshes_of_bodies if armature_modifier.hangs_on(o, obj))
        # For a single host the body of a deformed mesh has precedence, and the wearer before the clothes.
        found = [host for other in chain(deformed, hung) for host in hosts_of(other)]
        yield from sorted(found, key=registry.is_worn)
        return
    state = registry.state(obj)
    if state is not None and state.is_host:
        yield obj
    elif state is not None and state.host is not None:
        yield state.host


def hosts(context: bpy.types.Context) -> list[bpy.types.Object]:
    """The hosts of the active and selected objects, each once; wearers stand for their clothes."""
    objects = [context.view_layer.objects.active, *context.selected_objects]
    found = dict.fromkeys(host for obj in objects if obj is not None for host in hosts_of(obj))
    if not found:
        raise UserError("No selected object has Jounce; select a character and use Add Jounce first.")
    return [host for host in found if registry.linked(host, "wearer") not in found]


def dressed(hosts: list[bpy.types.Object]) -> list[bpy.types.Object]:
    """Hosts with those of their clothes, each once."""
    return list(dict.fromkeys(obj for host in hosts for obj in (host, *clothes_of(host))))


def clothes_of(host: bpy.types.Object) -> list[bpy.types.Object]:
    """The hosts of the clothes of a body, in order."""
    bodies = filter(registry.is_host, registry.meshes())
    return [obj for obj in bodies if registry.linked(obj, "wearer") == host != obj]


def refuse_joining(obj: bpy.types.Object, host: bpy.types.Object, warn: Warn) -> None:
    """Refuses a mesh that cannot be part of a body, or belongs to another one."""
    owner = host_of(obj)
    if owner is not None and owner != host:
        raise UserError(f"{obj.name} belongs to the body of {owner.name} already; remove it there first.")
    refuse_unfit(obj, warn)


def refuse_unfit(obj: bpy.types.Object, warn: Warn) -> None:
    """Refuses a mesh that cannot be part of any body."""
    meshes.refuse_unusable(obj)
    meshes.refuse_flat(obj)
    armature_modifier.deformer(obj, warn)
    rig_stack.refuse_hindered(obj)


def members(host: bpy.types.Object) -> tuple[bpy.types.Object, ...]:
    """All meshes of a body, the host first, the others by name."""
    return (host, *(obj for obj in registry.meshes() if obj.jounce.host == host and obj != host))


def fleshed(host: bpy.types.Object) -> tuple[bpy.types.Object, ...]:
    """The meshes of a body with flesh, in order: all, if the last build left none."""
    everything = members(host)
    return tuple(obj for obj in everything if not obj.jounce.left_out) or everything


def bind(host: bpy.types.Object, context: bpy.types.Context) -> None:
    """Records the places of a body's meshes in the world with the armatures at rest."""
    objects = members(host)
    refuse_unevaluated(objects, context)
    with bone_transforms.rest_position(objects, context.view_layer):
        for obj in objects:
            meshes.refuse_flat(obj)
        for obj in objects:
            obj.jounce.bind_matrix = np.array(obj.matrix_world).ravel()
            bone_core.bind(obj, armature_modifier.deformer(obj, lambda _sentence: None))


def read(host: bpy.types.Object, context: bpy.types.Context, warn: Warn) -> BodyScene:
    """Reads a body at rest in the world space of its bind matrices.

    The same scene reads the same to the bit wherever the timeline and the objects stand: nothing of it is
    evaluated, and trials of modifiers are made at frames of their own.
    """
    objects = fleshed(host)
    refuse_unevaluated(objects, context)
    scale = units.metres_per_unit(context.scene)
    carried: dict[bone_transforms.Carrier, tuple[bpy.types.Object, np.ndarray]] = {}
    points, triangles, parts, part_rigs, groups = [], [], [], [], []
    bones, marked, hinted = bone_core.Bones(scale), [], []
    row_of: dict[bpy.types.Object, slice] = {}
    start = 0
    for obj in objects:
        meshes.refuse_unusable(obj)
        matrix = bind_matrix(obj)
        local, stands = meshes.rest_points(obj), meshes.stands(obj)
        local = local if stands is None else local[stands]
        points.append(units.points_in_metres(local, matrix, scale))
        triangles.append(meshes.flesh_triangles(obj, flipped=np.linalg.det(matrix[:3, :3]) < 0.0) + start)
        deformer, stack = armature_modifier.deformer(obj, warn), rig_stack.examine(obj, context.scene)
        rig_stack.refuse_hindered(obj)
        rows = row_of[obj] = slice(start, start + len(local))
        preserves = deformer is not None and deformer.preserves_volume
        part = Part(obj.name, rows, matrix[:3, :3] * scale, preserves, stands, meshes.following(obj))
        parts.append(part)
        groups.append(part.stood_in(meshes.group_weights(obj)))
        weighed = groups[-1] if stack.groups is None else part.stood_in(stack.groups)
        part_rigs.append(bone_transforms.part_rig(obj, deformer, weighed, warn))
        bones.see(obj, deformer)
        marked.append(part.stood_in(hard_parts.hard_points(obj)))
        hinted.append(part.stood_in(hard_parts.hinted_points(obj)))
        carried.setdefault(bone_transforms.carrier(obj), (obj, matrix))
        start += len(local)
    rig, painted = bone_transforms.joined(part_rigs), weight_maps.read(host, objects, groups)
    own = weight_maps.read_parts(host, objects, groups) if host.jounce.is_flesh else {}
    strength, softness = own_parts.factors(host.jounce.part_rows(), own)
    fields = maps(painted, host.jounce.stiffness_scale())
    leaking = fields.with_leak(rig.weights @ bone_transforms.leaks(rig.movers))
    faces = np.concatenate(triangles)
    places = on_flesh(np.concatenate(points), faces, parts)
    marks = np.concatenate(marked), np.concatenate(hinted)
    surface = Surface(
        places,
        faces,
        rig.weights,
        tuple(parts),
        leaking,
        stitches=stitches.read(host, row_of),
        **bones_that_count(host, rig.movers),
        core=core(host, bones, rig, (places, faces), marks),
        shapes=driven_keys.driven(objects, parts) if host.jounce.shape_keys_count else None,
        attached=attached(painted) if host.jounce.is_attached else None,
        keeps_stiffness=softness is not None or fields.stiffness is None,
    )
    refuse_held(host, rig.movers)
    forces = ForceReader(host, context.scene, surface.diagonal, warn)
    reader = bone_transforms.PoseReader(rig.movers, carried, scale, surface.diagonal)
    feel = FeelReader(host, context.scene, surface.diagonal)
    touched = colliders.read(host, objects, surface, RestRig(reader), context, warn)
    muscles = muscles_of(host, weight_maps.read_muscles(host, objects, groups), RestRig(reader))
    uids = tuple(obj.data.session_uid for obj in objects)
    made = BodyScene(host, objects, surface, reader, forces, feel, touched, muscles, meshes=uids, shares=own)
    return refolded(replace(made, painted=Painted(leaking, strength, softness)), host.jounce.folds)


def refolded(scene: BodyScene, folds: str) -> BodyScene:
    """The same body with other folds than the host's, which are stiffer."""
    known = scene.painted
    folded = factors(folds, len(scene.surface.points)) if scene.host.jounce.is_flesh else None
    acting = known.maps.with_parts(known.strength, product(known.softness, folded))
    return replace(scene, surface=replace(scene.surface, maps=acting))


def on_flesh(points: np.ndarray, triangles: np.ndarray, parts: list[Part]) -> np.ndarray:
    """Points (p, 3) with those that follow another mesh moved to the nearest flesh."""
    following = [part for part in parts if part.following is not None]
    if not following or not len(triangles):
        return points
    moved, flesh = points.copy(), np.unique(triangles)
    for part in following:
        rows = part.points.start + np.flatnonzero(part.following)
        moved[rows] = points[flesh[meshes.nearest(points[flesh], points[rows])]]
    return moved


def core(
    host: bpy.types.Object,
    bones: bone_core.Bones,
    rig: bone_transforms.PartRig,
    surface: tuple[np.ndarray, np.ndarray],
    marks: tuple[np.ndarray, np.ndarray],
) -> BoneCore | None:
    """The bone core of a body. surface: points and triangles. marks: points marked as hard, and those of
    materials with the names of hard ones.
    """
    if host.jounce.bone_core == 0.0:
        return None
    marked, hinted = marks
    points, faces = surface
    found, joints = np.zeros(len(points), bool), bones.joints(rig.movers)
    if len(faces):
        with passing_on("The body cannot be built"):
            found = jounce.SkeletonCore.hard_points(points, faces, rig.weights, joints=joints, hinted=hinted)
    return bones.core(rig.movers, points, rig.weights, marked | found, host.jounce)


def muscles_of(host: bpy.types.Object, shares: list[np.ndarray], rig: RestRig) -> Muscles | None:
    """The muscles of a body along the bones of its rig. shares: (p,) each, share of the muscle in
    the flesh.
    """
    if not any(share.any() for share in shares):
        return None
    pairs = zip(shares, host.jounce.muscles, strict=True)
    made = tuple(Muscle(share, muscle.muscle_stiffness) for share, muscle in pairs)
    return Muscles(made, directions_of_bones(*rig.spans()))


def is_held_by_nothing(host: bpy.types.Object) -> bool:
    """True if no rig, keys, constraints, parents or physics move a body, whose flesh would stand still."""
    return all(
        bone_transforms.carrier(obj) == ("world",)
        and obj.rigid_body is None
        and rig_stack.is_linear(obj, None)
        for obj in members(host)
    ) and not armature_modifier.moving(members(host))


def are_linear(objects: tuple[bpy.types.Object, ...]) -> bool:
    """True if each mesh is posed in every frame by the weights of one armature alone, or not at all."""
    return all(
        rig_stack.is_linear(obj, armature_modifier.deformer(obj, lambda _sentence: None)) for obj in objects
    )


def refuse_held(host: bpy.types.Object, movers: tuple[bone_transforms.Mover, ...]) -> None:
    """Refuses a loose or pinned body moved by anything but one object."""
    is_alone = len(movers) == 1 and movers[0].armature is None
    if is_alone or not (host.jounce.is_loose or host.jounce.is_pinned):
        return
    raise UserError(
        f"{host.name} is {host.jounce.kind.lower()}, so no bones move it and its meshes move as one; "
        "remove its armature and parent its other meshes to it, or make it Rigged in the panel Body."
    )


def bones_that_count(
    host: bpy.types.Object, movers: tuple[bone_transforms.Mover, ...]
) -> dict[str, np.ndarray]:
    """Fields of a surface that choose the counted bones; empty if all count."""
    counting = Counting(host.jounce.bones_counting)
    if counting is Counting.ALL:
        return {}
    above = bone_transforms.bones_above(movers)
    if counting is Counting.AUTOMATIC:
        return {"bone_parents": above}
    picked = bone_transforms.in_collection(movers, host.jounce.bones_collection)
    return {"merge_into": merged_into_picked(above, picked)}


def bind_matrix(obj: bpy.types.Object) -> np.ndarray:
    """The bind matrix (4, 4) f64 of an object from the last build."""
    if not is_bound(obj):
        raise UserError(f"{obj.name} is not built yet; use Build first.")
    return np.array(obj.jounce.bind_matrix, dtype=np.float64).reshape(4, 4)


def rest_places(obj: bpy.types.Object, scene: bpy.types.Scene) -> np.ndarray:
    """The places (p, 3) of the vertices at the last build, in metres."""
    scale = units.metres_per_unit(scene)
    return units.points_in_metres(meshes.rest_points(obj), bind_matrix(obj), scale)


def is_bound(obj: bpy.types.Object) -> bool:
    """True if a build has left a bind matrix on an object."""
    return bool(np.linalg.matrix_rank(np.array(obj.jounce.bind_matrix).reshape(4, 4)) == 4)


def refuse_unevaluated(objects: tuple[bpy.types.Object, ...], context: bpy.types.Context) -> None:
    """Refuses meshes the view layer does not evaluate, as their motion cannot be read. Hidden is fine."""
    depsgraph = evaluation.depsgraph(context)
    for obj in objects:
        if context.scene.objects.get(obj.name) != obj:
            raise UserError(f"{obj.name} is not in this scene, so its motion cannot be read; link it again.")
        if obj.hide_viewport or not obj.evaluated_get(depsgraph).is_evaluated:
            raise UserError(f"{obj.name} is disabled in viewports, so its motion cannot be read; enable it.")
