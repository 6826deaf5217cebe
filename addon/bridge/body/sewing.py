"""Merges a body into another one; each change can be undone."""

from collections.abc import Iterator
from contextlib import ExitStack

import bpy
import numpy as np

from ...core.common.user_error import UserError
from ...core.mesh.maps import Kind
from ..keys import carried_keys
from ..rig import armature_modifier, bone_transforms
from ..rig.armature_modifier import Warn
from . import bodies, muscles, stitches, weight_maps

# Settings of a single mesh, independent of its body.
OWN = ("host", "bind_matrix", "armature_matrix", "is_rigid")


def refuse_apart(host: bpy.types.Object, other: bpy.types.Object, warn: Warn) -> None:
    """Refuses bodies if nothing moves one of them, and warns about different rigs."""
    still = [body for body in (host, other) if bodies.is_held_by_nothing(body)]
    if len(still) == 1:
        moved = other if still == [host] else host
        raise UserError(
            f"Nothing moves {still[0].name}, so it would not follow {moved.name}; parent it to a "
            f"bone or an object that moves {moved.name}, and sew it then."
        )
    if not still and set(followed(host)).isdisjoint(followed(other)):
        warn(
            f"Different rigs move {host.name} and {other.name}, and the seam stretches where these part; "
            "give both the same armature, or let one follow the other."
        )


def followed(host: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """The meshes of a body, the armatures, and the followed objects, possibly repeated."""
    objects = bodies.members(host)
    for obj in (*objects, *armature_modifier.moving(objects)):
        above = [obj, *bone_transforms.ancestors(obj)]
        yield from above
        bones = (bone for each in above if each.type == "ARMATURE" for bone in each.pose.bones)
        limits = (limit for bone in bones for limit in bone.constraints)
        yield from filter(None, (getattr(limit, "target", None) for limit in limits))


def nearest(
    ours: list[bpy.types.Object],
    theirs: list[bpy.types.Object],
    share: float,
    most: int,
    view_layer: bpy.types.ViewLayer,
) -> stitches.Found:
    """Nearest vertex pairs of the meshes of two bodies, with the armatures at rest."""
    with bone_transforms.rest_position([*ours, *theirs], view_layer):
        return stitches.between(ours, theirs, share, most)


def take(host: bpy.types.Object, other: bpy.types.Object, undo: ExitStack, warn: Warn) -> None:
    """Merges another body into a body, with its stitch groups, maps and muscles.

    undo: collects the reversals. Warns about data without a place in the body.
    """
    left = [*take_maps(host, other, undo), *take_muscles(host, other, undo)]
    for number, seam in enumerate(other.jounce.seams):
        stitches.take(host, seam)
        place = len(host.jounce.seams) - 1
        if not carried_keys.take(other, stitches.KEYS.path(number), host, stitches.KEYS.path(place), undo):
            left.append(f"what moves Closed of {seam.name}")
    if left:
        warn(f"What stays behind of {other.name}, as {host.name} has no place for it: {', '.join(left)}.")
    for obj in bodies.members(other)[1:]:
        obj.jounce.host = host
        undo.callback(setattr, obj.jounce, "host", other)
    other.jounce.host = host
    other.jounce.is_host = False
    undo.callback(give_back, other)


def give_back(host: bpy.types.Object) -> None:
    """Makes a mesh a host again."""
    host.jounce.is_host = True
    host.jounce.property_unset("host")


def take_maps(host: bpy.types.Object, other: bpy.types.Object, undo: ExitStack) -> list[str]:
    """Transfers the maps of another body to a body without these kinds; returns the names of the remaining
    maps.
    """
    left = []
    for kind, (setting, name) in weight_maps.SETTINGS.items():
        theirs = getattr(other.jounce, setting)
        painted = weight_maps.has_begun(other, bodies.members(other), kind)
        if kind is Kind.MUSCLE or not painted:
            continue
        if getattr(host.jounce, setting) == theirs:
            if kind is Kind.STIFFNESS and not has_same_scale(host, other):
                left.append(f"the factors of the map {name}")
            continue
        if getattr(host.jounce, setting) or not is_free(host, theirs) or not is_neutral_without(other, kind):
            left.append(f"the map {name}")
            continue
        put(host.jounce, setting, theirs, undo)
        for scale in weight_maps.SCALE if kind is Kind.STIFFNESS else ():
            put(host.jounce, scale, getattr(other.jounce, scale), undo)
    return left


def has_same_scale(host: bpy.types.Object, other: bpy.types.Object) -> bool:
    """True if the weights of the stiffness map have the same meaning in two bodies."""
    return bool(host.jounce.stiffness_scale() == other.jounce.stiffness_scale())


def is_neutral_without(other: bpy.types.Object, kind: Kind) -> bool:
    """True if a mesh without the group of a map is equivalent to one without the map."""
    scale = other.jounce.stiffness_scale()
    return kind is not Kind.STIFFNESS or bool(np.isclose(scale.factors(np.array(scale.neutral)), 1.0))


def is_free(host: bpy.types.Object, group: str) -> bool:
    """True if no mesh of a body has a vertex group of this name with another meaning."""
    return not any(group in obj.vertex_groups for obj in bodies.members(host))


def take_muscles(host: bpy.types.Object, other: bpy.types.Object, undo: ExitStack) -> list[str]:
    """Transfers the muscles of another body; returns the names of the remaining ones."""
    left = []
    for number, muscle in enumerate(other.jounce.muscles):
        group = muscle.muscle_group
        if is_free(other, group):
            continue
        if any(own.muscle_group == group for own in host.jounce.muscles) or not is_free(host, group):
            left.append(f"the muscle {group}")
            continue
        if not host.jounce.muscle_group:
            for setting in muscles.SETTINGS:
                put(host.jounce, setting, getattr(muscle, setting), undo)
            place = 0
        else:
            muscles.add(host, muscle)
            place = len(host.jounce.more_muscles)
            undo.callback(host.jounce.more_muscles.remove, place - 1)
        if not carried_keys.take(other, muscle_path(number), host, muscle_path(place), undo):
            left.append(f"what moves Contraction of the muscle {group}")
    return left


def muscle_path(number: int) -> str:
    """Animation path of a muscle's contraction; 0 is the first."""
    return muscles.KEYS.path(number - 1) if number else f"jounce.{muscles.KEYS.settings[0]}"


def put(state: bpy.types.PropertyGroup, setting: str, value: object, undo: ExitStack) -> None:
    """Gives a setting a value."""
    if state.is_property_set(setting):
        undo.callback(setattr, state, setting, getattr(state, setting))
    else:
        undo.callback(state.property_unset, setting)
    setattr(state, setting, value)


def keep_own(obj: bpy.types.Object) -> None:
    """Removes a mesh's data as the host of a body."""
    state = obj.jounce
    kept = {name: getattr(state, name) for name in OWN if state.is_property_set(name)}
    kept = {name: tuple(value) if "matrix" in name else value for name, value in kept.items()}
    obj.property_unset("jounce")
    for name, value in kept.items():
        setattr(obj.jounce, name, value)
