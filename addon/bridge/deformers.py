"""The armature that deforms a mesh, and what in the stack speaks against reading it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import bpy

from ..core.refusal import Refusal

# The modifiers known to keep the number and the order of vertices; any other one may change them.
KEEPS_VERTICES = frozenset(
    [
        "ARMATURE",
        "CAST",
        "CLOTH",
        "COLLISION",
        "CORRECTIVE_SMOOTH",
        "CURVE",
        "DATA_TRANSFER",
        "DISPLACE",
        "DYNAMIC_PAINT",
        "HOOK",
        "LAPLACIANDEFORM",
        "LAPLACIANSMOOTH",
        "LATTICE",
        "MESH_CACHE",
        "MESH_DEFORM",
        "NORMAL_EDIT",
        "PARTICLE_SYSTEM",
        "SHRINKWRAP",
        "SIMPLE_DEFORM",
        "SMOOTH",
        "SOFT_BODY",
        "SURFACE",
        "SURFACE_DEFORM",
        "TRIANGULATE",
        "UV_PROJECT",
        "UV_WARP",
        "VERTEX_WEIGHT_EDIT",
        "VERTEX_WEIGHT_MIX",
        "VERTEX_WEIGHT_PROXIMITY",
        "WARP",
        "WAVE",
        "WEIGHTED_NORMAL",
    ]
)

# Among these, the ones that move no vertex and change no weight.
MOVES_NOTHING = frozenset(
    [
        "COLLISION",
        "DATA_TRANSFER",
        "DYNAMIC_PAINT",
        "NORMAL_EDIT",
        "PARTICLE_SYSTEM",
        "SURFACE",
        "TRIANGULATE",
        "UV_PROJECT",
        "UV_WARP",
        "WEIGHTED_NORMAL",
    ]
)

Warn = Callable[[str], None]


@dataclass(frozen=True)
class Deformer:
    """The armature of a mesh; modifier is None where the mesh is parented to it with armature deform."""

    armature: bpy.types.Object
    modifier: bpy.types.ArmatureModifier | None

    @property
    def preserves_volume(self) -> bool:
        """Whether rigid motions are blended instead of matrices."""
        return self.modifier is not None and self.modifier.use_deform_preserve_volume

    def mask(self) -> tuple[str, bool]:
        """Name of the vertex group that limits the modifier (empty for none), and whether it is inverted."""
        if self.modifier is None:
            return "", False
        return self.modifier.vertex_group, self.modifier.invert_vertex_group


def deformer(obj: bpy.types.Object, warn: Warn) -> Deformer | None:
    """The first armature that deforms a mesh, None for a mesh without."""
    found = [Deformer(obj.parent, None)] if is_armature_deformed(obj) else []
    before: list[bpy.types.Modifier] = []
    for modifier in obj.modifiers:
        if not modifier.show_viewport:
            continue
        if modifier.type == "ARMATURE" and modifier.object is not None:
            found.append(Deformer(modifier.object, modifier))
        elif not found:
            before.append(modifier)
    if not found:
        return None
    refuse_unreadable(obj, found[0], before)
    if found[0].armature.data.pose_position == "REST":
        warn(f"{found[0].armature.name} is in Rest Position, so it does not move; set it to Pose Position.")
    return found[0]


def armatures(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """The armatures whose bones count as those of these meshes, each once."""
    found = (deformer(obj, lambda _sentence: None) for obj in objects)
    return list(dict.fromkeys(first.armature for first in found if first is not None))


def moved_by(armature: bpy.types.Object, context: bpy.types.Context) -> list[bpy.types.Object]:
    """The meshes that stand for an armature's character, the one of most vertices first.

    Those that it deforms; where more of the character hangs on its bones, as of a robot, those as well.
    """
    deformed, hung = deformed_by(armature, context), hung_on(armature, context)
    counts = [sum(len(obj.data.vertices) for obj in objects) for objects in (deformed, hung)]
    return largest_first([*deformed, *hung]) if counts[1] > counts[0] else deformed


def deformed_by(armature: bpy.types.Object, context: bpy.types.Context) -> list[bpy.types.Object]:
    """The meshes of the view layer that an armature deforms, the one of most vertices first."""
    objects = context.view_layer.objects
    return largest_first(obj for obj in objects if obj.type == "MESH" and obj.find_armature() == armature)


def hung_on(armature: bpy.types.Object, context: bpy.types.Context) -> list[bpy.types.Object]:
    """The visible meshes that only hang on bones of an armature, the one of most vertices first."""
    layer = context.view_layer
    return largest_first(
        obj for obj in layer.objects if hangs_on(obj, armature) and obj.visible_get(view_layer=layer)
    )


def largest_first(objects: Iterable[bpy.types.Object]) -> list[bpy.types.Object]:
    """Meshes by their number of vertices."""
    return sorted(objects, key=lambda obj: len(obj.data.vertices), reverse=True)


def hangs_on(obj: bpy.types.Object, armature: bpy.types.Object) -> bool:
    """Whether an object is a mesh that a bone of an armature carries as a whole, itself or its parents."""
    if obj.type != "MESH" or obj.find_armature() is not None:
        return False
    while obj.parent is not None:
        if obj.parent == armature and obj.parent_type == "BONE":
            return True
        obj = obj.parent
    return False


def is_armature_deformed(obj: bpy.types.Object) -> bool:
    """Whether the mesh hangs on its parent with armature deform, which Blender treats as a first modifier."""
    return obj.parent is not None and obj.parent.type == "ARMATURE" and obj.parent_type == "ARMATURE"


def refuse_unreadable(obj: bpy.types.Object, first: Deformer, before: list[bpy.types.Modifier]) -> None:
    """Refuses a stack whose armature does not see the mesh's own vertices, or not by vertex groups."""
    for modifier in before:
        if modifier.type not in KEEPS_VERTICES:
            raise Refusal(
                f"The modifier {modifier.name} of {obj.name} stands before its armature and may change the "
                "number of vertices; move it below the armature or apply it."
            )
    if first.modifier is not None and not first.modifier.use_vertex_groups:
        raise Refusal(
            f"The armature modifier of {obj.name} does not use vertex groups; Jounce reads only those."
        )
    if first.armature.mode == "EDIT":
        raise Refusal(
            f"{first.armature.name} is in Edit Mode; leave it first, so that its bones are up to date."
        )
