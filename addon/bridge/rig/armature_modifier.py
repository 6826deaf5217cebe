"""The deforming armature of a mesh, and obstacles in the stack to reading its rig."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import bpy
import numpy as np

from ...core.common.user_error import UserError
from ..common import registry
from . import switches

Warn = Callable[[str], None]


@dataclass(frozen=True)
class Deformer:
    """The armature of a mesh; modifier is None for a mesh parented with armature deform."""

    armature: bpy.types.Object
    modifier: bpy.types.ArmatureModifier | None

    @property
    def preserves_volume(self) -> bool:
        """True if rigid motions are blended instead of matrices."""
        return self.modifier is not None and self.modifier.use_deform_preserve_volume

    def mask(self) -> tuple[str, bool]:
        """Name of the modifier's vertex group (empty for none), and its inversion."""
        if self.modifier is None:
            return "", False
        return self.modifier.vertex_group, self.modifier.invert_vertex_group


def deformer(obj: bpy.types.Object, warn: Warn) -> Deformer | None:
    """The first armature that deforms a mesh, None without one."""
    first, _ = first_deformer(obj)
    if first is None:
        return None
    refuse_unreadable(obj, first)
    if first.armature.data.pose_position == "REST":
        warn(f"{first.armature.name} is in Rest Position, so it does not move; set it to Pose Position.")
    return first


def first_deformer(obj: bpy.types.Object) -> tuple[Deformer | None, list[bpy.types.Modifier]]:
    """The first armature that deforms a mesh in some frame, readable or not, and the earlier modifiers.

    Without an armature there are none: all modifiers act on the moved mesh.
    """
    before: list[bpy.types.Modifier] = []
    if is_armature_deformed(obj):
        return Deformer(obj.parent, None), before
    for modifier in filter(switches.takes_part, obj.modifiers):
        if modifier.type == "ARMATURE" and modifier.object is not None:
            return Deformer(modifier.object, modifier), before
        before.append(modifier)
    return None, []


def armatures(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """The armatures whose bones belong to these meshes, each once."""
    found = (deformer(obj, lambda _sentence: None) for obj in objects)
    return list(dict.fromkeys(first.armature for first in found if first is not None))


def moving(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """The armatures that move these meshes, each once: deforming ones, else carrying ones."""
    found: dict[bpy.types.Object, None] = {}
    for obj in objects:
        first, _ = first_deformer(obj)
        above = carriers(obj) if first is None else iter([first.armature])
        found |= dict.fromkeys(islice(above, 1))
    return list(found)


def moved_by(armature: bpy.types.Object, context: bpy.types.Context) -> list[bpy.types.Object]:
    """The main meshes of an armature's character: the deformed ones, by number of vertices.

    If larger parts are attached to bones, as in a robot, these as well, the largest first. Attached objects
    with Jounce are separate bodies.
    """
    deformed = deformed_by(armature, context)
    hung = [obj for obj in hung_on(armature, context) if not registry.is_of_body(obj)]
    return [*deformed, *hung] if sum(map(extent, hung)) > sum(map(extent, deformed)) else deformed


def deformed_by(armature: bpy.types.Object, context: bpy.types.Context) -> list[bpy.types.Object]:
    """The meshes of the view layer deformed by an armature, by number of vertices."""
    objects = context.view_layer.objects
    deformed = (obj for obj in objects if obj.type == "MESH" and obj.find_armature() == armature)
    return sorted(deformed, key=lambda obj: len(obj.data.vertices), reverse=True)


def hung_on(armature: bpy.types.Object, context: bpy.types.Context) -> list[bpy.types.Object]:
    """The visible meshes attached to bones of an armature, the largest first."""
    layer = context.view_layer
    hung = (obj for obj in layer.objects if hangs_on(obj, armature) and obj.visible_get(view_layer=layer))
    return sorted(hung, key=extent, reverse=True)


def extent(obj: bpy.types.Object) -> float:
    """Surface area of the bounding box of a mesh without its modifiers, in square world units."""
    points = np.empty(3 * len(obj.data.vertices), np.float32)
    obj.data.vertices.foreach_get("co", points)
    if len(points) == 0:
        return 0.0
    scales = np.linalg.norm(np.array(obj.matrix_world)[:3, :3], axis=0)
    a, b, c = np.ptp(points.reshape(-1, 3), axis=0) * scales
    return float(2.0 * (a * b + b * c + c * a))


def hangs_on(obj: bpy.types.Object, armature: bpy.types.Object) -> bool:
    """True for a mesh that, directly or through its parents, is attached to a bone of an armature."""
    return obj.type == "MESH" and obj.find_armature() is None and armature in carriers(obj)


def carriers(obj: bpy.types.Object) -> Iterator[bpy.types.Object]:
    """The armatures with bones that carry an object, directly or through parents, the nearest first."""
    while obj.parent is not None:
        if obj.parent_type == "BONE" and obj.parent.type == "ARMATURE":
            yield obj.parent
        obj = obj.parent


def bone_of(obj: bpy.types.Object, armature: bpy.types.Object) -> str:
    """Name of the bone of an armature that carries an object, or of its nearest deforming ancestor; empty
    without one.
    """
    while obj is not None and not (obj.parent == armature and obj.parent_type == "BONE"):
        obj = obj.parent
    bone = None if obj is None else armature.data.bones.get(obj.parent_bone)
    while bone is not None and not bone.use_deform:
        bone = bone.parent
    return "" if bone is None else bone.name


def is_armature_deformed(obj: bpy.types.Object) -> bool:
    """True for a mesh parented with armature deform, which Blender treats as a first modifier."""
    return obj.parent is not None and obj.parent.type == "ARMATURE" and obj.parent_type == "ARMATURE"


def refuse_unreadable(obj: bpy.types.Object, first: Deformer) -> None:
    """Refuses an armature in Edit Mode, or an armature on a mesh without vertex groups."""
    if first.modifier is not None and not first.modifier.use_vertex_groups:
        raise UserError(
            f"The armature modifier of {obj.name} does not use vertex groups; Jounce reads only those."
        )
    if first.armature.mode == "EDIT":
        raise UserError(
            f"{first.armature.name} is in Edit Mode; leave it first, to bring its bones up to date."
        )
