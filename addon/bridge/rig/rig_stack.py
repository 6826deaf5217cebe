"""The rig in a mesh's stack: shape keys, animated vertices, and the modifiers up to the last posing one.

Linear skinning by one armature is read from weights and bones. All other influences are read from the
evaluated mesh (`posed_meshes`). Modifiers after the rig act on the posed shape as before. Types do not decide
about posing: each modifier is tried (`trials`).
"""

from dataclasses import dataclass

import bpy
import numpy as np

from ...core.body.built_bodies import BodyCache
from ...core.common.user_error import UserError
from ..common import marks, registry
from ..keys import animation, own_keys
from . import armature_modifier, switches, trials
from .armature_modifier import Deformer

NAME = "Jounce"
# Difference below which weights are equal.
SAME_WEIGHT = 1e-4


@dataclass(frozen=True)
class Stack:
    """Results of trying the modifiers of a mesh.

    rig: the names of the posing modifiers, in order, and of those between them. posing: of those that pose by
    themselves, beside the armature with the weights. groups: weights (p, g) of all vertex groups as input of
    this armature, None for those of the mesh. reshaped_by: source of another rest shape before this armature,
    empty for none. moves: True if any of this moves the mesh. hinders: the name of a modifier before this
    armature that changes the vertices, empty for none.
    """

    rig: tuple[str, ...] = ()
    posing: tuple[str, ...] = ()
    groups: np.ndarray | None = None
    reshaped_by: str = ""
    moves: bool = False
    hinders: str = ""


# Latest results, by the quickly comparable properties of a mesh.
_known: "BodyCache[Stack]" = BodyCache(capacity=64)


def stack(obj: bpy.types.Object) -> Stack:
    """The modifiers of a mesh as last examined, while unchanged."""
    known = _known.get(outline(obj, bpy.context.scene))
    return examine(obj, bpy.context.scene) if known is None else known


def outline(obj: bpy.types.Object, scene: bpy.types.Scene) -> str:
    """Digest of a mesh, its modifiers and the frames of a scene, without a trial."""
    own = [(m.name, m.type, switches.takes_part(m)) for m in obj.modifiers if not is_ours(m)]
    above = obj.parent is not None and armature_modifier.is_armature_deformed(obj)
    frames = (scene.frame_start, scene.frame_end)
    return repr((obj.session_uid, obj.data.session_uid, len(obj.data.vertices), above, own, frames))


def examine(obj: bpy.types.Object, scene: bpy.types.Scene) -> Stack:
    """Tries the modifiers of a mesh in the frames of a scene, and stores the results."""
    first, before = armature_modifier.first_deformer(obj)
    followed = None if first is None else first.modifier
    earlier = {modifier.name for modifier in before if not is_ours(modifier)}
    names = [m.name for m in obj.modifiers if m != followed and not is_ours(m) and switches.takes_part(m)]
    found = Stack(rig=() if followed is None else (followed.name,))
    if names or has_animated_vertices(obj):
        with trials.of(obj, scene) as trying:
            found = tried(obj, followed, names, earlier, trying)
    _known.put(outline(obj, scene), found)
    return found


def tried(
    obj: bpy.types.Object,
    followed: bpy.types.ArmatureModifier | None,
    names: list[str],
    before: set[str],
    trying: trials.Trials,
) -> Stack:
    """Effects of some modifiers of a mesh. before: those before the followed armature modifier."""
    physics = {modifier.name for modifier in obj.modifiers if switches.goes_on(modifier)}
    changing = {name for name in names if name not in physics and trying.multiplies(name)}
    alone = {name: trying.add((name,)) for name in names if name not in physics | changing}
    seen = trying.add(before) if before and before.isdisjoint(changing) else None
    animated = trying.add((), is_still=False) if has_animated_vertices(obj) else None
    weights: list[np.ndarray] = []
    for index, depsgraph in enumerate(trying.frames()):
        if seen is not None and seen.keeps and index % (trials.FRAMES // trials.WEIGHED) == 0:
            weights.append(seen.weights(depsgraph))
    changing |= {name for name, trial in alone.items() if not trial.keeps}
    hinders = next((name for name in names if name in before & changing), "")
    behind = [name for name in names if name not in before]
    end = next((index for index, name in enumerate(behind) if name in changing), len(behind))
    posing = tuple(name for name in behind[:end] if name in alone and trying.poses(alone[name]))
    last = max((names.index(name) for name in {*posing, *before}), default=-1)
    rig = {*names[: last + 1], *(() if followed is None else (followed.name,))}
    reshaped_by = ""
    if seen is not None and (seen.reshapes or varies(weights)):
        earlier = [name for name in names if name in before]
        culprit = next((name for name in earlier if name not in alone or alone[name].reshapes), earlier[0])
        reshaped_by = f"the modifier {culprit}"
    elif animated is not None and animated.reshapes:
        reshaped_by = "its animated vertices"
    looked = [trial for trial in (seen, animated) if trial is not None]
    return Stack(
        tuple(modifier.name for modifier in obj.modifiers if modifier.name in rig),
        posing,
        weights[0] if weights else None,
        reshaped_by,
        bool(posing) or any(trial.moves for trial in looked),
        hinders,
    )


def varies(weights: list[np.ndarray]) -> bool:
    """True if weights (p, g) are other ones in some frames."""
    return any(np.abs(other - weights[0]).max(initial=0.0) > SAME_WEIGHT for other in weights[1:])


def has_animated_vertices(obj: bpy.types.Object) -> bool:
    """True if the mesh has animation, possibly of vertices."""
    return bool(animation.paths(obj.data.animation_data))


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
    rig = stack(obj).rig
    return max((index + 1 for index, modifier in enumerate(obj.modifiers) if modifier.name in rig), default=0)


def modifiers(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """The modifiers of the rig, in order; some may be off in this frame."""
    rig = stack(obj).rig
    return [modifier for modifier in obj.modifiers if modifier.name in rig]


def is_linear(obj: bpy.types.Object, deformer: Deformer | None) -> bool:
    """True if a mesh is posed in every frame by the weights of one armature alone, or not at all."""
    preserves = deformer is not None and deformer.preserves_volume
    followed = None if deformer is None else deformer.modifier
    if preserves or has_keys(obj) or has_animated_vertices(obj) or shaped_bones(deformer):
        return False
    rig = modifiers(obj)
    return rig == [] if followed is None else rig == [followed] and not switches.is_animated(followed)


def has_keys(obj: bpy.types.Object) -> bool:
    """True if shape keys of the artist's may take part in some frame."""
    keys = obj.data.shape_keys
    if keys is None:
        return False
    if obj.show_only_shape_key:
        return True
    animated, own = keys.animation_data is not None, own_keys.of(keys)
    shapes = [key for key in keys.key_blocks if key != keys.reference_key and key not in own]
    return any(switches.counts(shape) and (animated or shape.value != 0.0) for shape in shapes)


def shaped_bones(deformer: Deformer | None) -> str:
    """Features of an armature beyond one matrix per bone, empty for none."""
    if deformer is None:
        return ""
    if deformer.modifier is not None and deformer.modifier.use_bone_envelopes:
        return f"the envelopes of {deformer.armature.name}"
    if any(bone.bbone_segments > 1 and bone.use_deform for bone in deformer.armature.data.bones):
        return f"the bendy bones of {deformer.armature.name}"
    return ""


def unlike_skinning(obj: bpy.types.Object, deformer: Deformer | None) -> str:
    """Description of the influences that no blend of bones reproduces, empty for none."""
    found, followed = stack(obj), None if deformer is None else deformer.modifier
    if found.reshaped_by:
        return found.reshaped_by
    if followed is not None and switches.is_animated(followed):
        return f"the animated settings of the modifier {followed.name}"
    if found.posing:
        return f"the modifier {found.posing[0]}"
    return shaped_bones(deformer)


def refuse_hindered(obj: bpy.types.Object) -> None:
    """Refuses a mesh with changed vertices at its armature."""
    hinders = stack(obj).hinders
    if hinders:
        raise UserError(
            f"The modifier {hinders} of {obj.name} stands before its armature and changes the vertices; move "
            "it below the armature or apply it."
        )


def refuse_keys(obj: bpy.types.Object, deformer: Deformer | None) -> None:
    """Refuses to bake shape keys to a mesh whose rig cannot be inverted exactly."""
    cause = unlike_skinning(obj, deformer)
    if cause:
        raise UserError(
            f"{obj.name} is posed by {cause}, behind which shape keys would not give the simulated shape; "
            "bake to Skinning Nodes or Mesh Cache."
        )
