"""The rig in a mesh's stack: shape keys, and the modifiers up to the last one of the rig.

Linear skinning by one armature is read from weights and bones. All other influences are read from the
evaluated mesh (`posed`). Modifiers after the rig act on the posed shape as before.
"""

import bpy

from ...core.user_error import UserError
from ..bake import own_keys
from ..common import marks, registry
from .armature_modifier import KEEPS_VERTICES, MOVES_NOTHING, Deformer

NAME = "Jounce"
# Modifiers of rigs. Others belong to the rig if one of these follows.
RIGS = frozenset(
    [
        "ARMATURE",
        "CURVE",
        "HOOK",
        "LAPLACIANDEFORM",
        "LATTICE",
        "MESH_DEFORM",
        "SIMPLE_DEFORM",
        "SURFACE_DEFORM",
        "WARP",
    ]
)


def is_ours(modifier: bpy.types.Modifier) -> bool:
    """True if a modifier belongs to a bake or a preview."""
    return shows_preview(modifier) or plays_bake(modifier) or plays_earlier_bake(modifier)


def shows_preview(modifier: bpy.types.Modifier) -> bool:
    """True if a modifier has the node group of previews."""
    tree = modifier.node_group if modifier.type == "NODES" else None
    return tree is not None and marks.has(tree, marks.PREVIEW)


def plays_bake(modifier: bpy.types.Modifier) -> bool:
    """True for the modifier of a bake, made in this file or in the library of an override."""
    overrides = modifier.id_data.override_library
    objects = (modifier.id_data, None if overrides is None else overrides.reference)
    states = [state for obj in objects if obj is not None and (state := registry.state(obj)) is not None]
    if modifier.persistent_uid in {state.bake_modifier for state in states} - {0}:
        return True
    # Additions of an override are recognised by name: Blender renumbers them whenever the file is opened.
    added = overrides is not None and not modifier.is_override_data
    return added and modifier.name in {state.bake_modifier_name for state in states[:1]} - {""}


def plays_earlier_bake(modifier: bpy.types.Modifier) -> bool:
    """True if a modifier plays the bake that is being replaced."""
    state = registry.state(modifier.id_data)
    return state is not None and modifier.persistent_uid == state.bake_earlier


def end(obj: bpy.types.Object) -> int:
    """The index after the last modifier of the rig; 0 without one."""
    last = 0
    for index, modifier in enumerate(obj.modifiers):
        if not modifier.show_viewport or is_ours(modifier):
            continue
        if modifier.type not in KEEPS_VERTICES:
            break
        if modifier.type in RIGS and getattr(modifier, "object", obj) is not None:
            last = index + 1
    return last


def modifiers(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """The shown modifiers of the rig, in order."""
    return [m for m in list(obj.modifiers)[: end(obj)] if m.show_viewport and not is_ours(m)]


def is_linear(obj: bpy.types.Object, deformer: Deformer | None) -> bool:
    """True if a mesh is posed by the weights of one armature alone, or not at all."""
    preserves = deformer is not None and deformer.preserves_volume
    return not preserves and not has_keys(obj) and not unlike_skinning(obj, deformer)


def has_keys(obj: bpy.types.Object) -> bool:
    """True if shape keys of the artist's may take part."""
    keys = obj.data.shape_keys
    if keys is None:
        return False
    animated = keys.animation_data is not None
    if obj.show_only_shape_key:
        return True
    own = own_keys.of(keys)
    shapes = [key for key in keys.key_blocks if key != keys.reference_key and key not in own]
    return any(not shape.mute and (animated or shape.value != 0.0) for shape in shapes)


def unlike_skinning(obj: bpy.types.Object, deformer: Deformer | None) -> str:
    """Description of the influences that no blend of bones reproduces, empty for none."""
    followed = None if deformer is None else deformer.modifier
    for modifier in modifiers(obj):
        if modifier.type in MOVES_NOTHING or modifier == followed:
            continue
        return f"the modifier {modifier.name}"
    if followed is not None and followed.use_bone_envelopes:
        return f"the envelopes of {deformer.armature.name}"
    if deformer is not None and any(
        bone.bbone_segments > 1 and bone.use_deform for bone in deformer.armature.data.bones
    ):
        return f"the bendy bones of {deformer.armature.name}"
    return ""


def refuse_keys(obj: bpy.types.Object, deformer: Deformer | None) -> None:
    """Refuses to bake shape keys to a mesh whose rig cannot be inverted exactly."""
    cause = unlike_skinning(obj, deformer)
    if cause:
        raise UserError(
            f"{obj.name} is posed by {cause}, behind which shape keys would not give the simulated shape; "
            "bake to Skinning Nodes or Mesh Cache."
        )
