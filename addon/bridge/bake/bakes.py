"""The kinds of bakes: the code that prepares each kind, and the code that frees a mesh's bake."""

import bpy

from ...core.bake.prepared import Preparation, Prepared
from ...core.common.user_error import UserError
from ...core.flesh.settings import BakeSettings, Quality, Target
from ...core.stepping.motion import Motion
from ..body import bodies
from ..body.bodies import BodyScene
from ..common import linked_mesh_proxy
from ..inputs import directions
from ..keys import animation
from ..rig import armature_modifier, modifier_stack, rig_stack
from ..rig.armature_modifier import Warn
from . import (
    helper_bones,
    kept,
    measured,
    mesh_cache,
    own_bones,
    replacing,
    shape_keys,
    skinning_nodes,
)
from .measured import Expected

PREPARE = {
    Target.MODAL_KEYS: shape_keys.prepare,
    Target.FRAME_KEYS: shape_keys.prepare,
    Target.SKINNING_NODES: skinning_nodes.prepare,
    Target.MESH_CACHE: mesh_cache.prepare,
    Target.HELPER_BONES: helper_bones.prepare,
    Target.OWN_BONES: own_bones.prepare,
}

# A host's record of its bake.
RECORD = ("bake_draft_error", "bake_depth", "bake_error", "bake_parts", "bake_range", "bake_hid_preview")
# Targets for a body without modes.
PLAYS_SHAPES = frozenset((Target.MODAL_KEYS, Target.FRAME_KEYS, Target.MESH_CACHE))


def refuse_unusable(obj: bpy.types.Object, settings: BakeSettings, warn: Warn) -> None:
    """Refuses a mesh that cannot take a bake, and warns if the bake would be invisible."""
    refuse_stuck(obj)
    if settings.target is Target.SKINNING_NODES:
        modifier_stack.refuse_nodes(obj)
    if settings.target.is_keys:
        shape_keys.refuse_foreign(obj)
        animation.refuse_unusable(obj)
        rig_stack.refuse_keys(obj, armature_modifier.deformer(obj, lambda _: None))
        shape_keys.warn_if_hidden(obj, warn)


def refuse(host: bpy.types.Object, target: str, scene: bpy.types.Scene) -> None:
    """Refuses a body that cannot be baked to a target in its present state."""
    settings = host.jounce.bake_settings(target, scene.frame_start, scene.frame_end)
    refuse_unfit(host, settings)
    for obj in bodies.fleshed(host):
        refuse_unusable(obj, settings, lambda _: None)


def warn_of_left_out(host: bpy.types.Object, settings: BakeSettings, warn: Warn) -> None:
    """Warns that a copy of the character contains only the meshes with flesh."""
    left = [obj.name for obj in bodies.members(host) if obj not in bodies.fleshed(host)]
    if left and settings.target not in (*PLAYS_SHAPES, Target.SKINNING_NODES):
        warn(f"{', '.join(left)} has no flesh of its own, so the copy of {host.name} comes without it.")


def refuse_unfit(host: bpy.types.Object, settings: BakeSettings) -> None:
    """Refuses targets limited to drafts or to flesh, and targets without a place beside kept bakes."""
    if len(host.jounce.kept_bakes):
        kept.refuse(host, settings.target)
    if not host.jounce.is_flesh:
        refuse_without_modes(host, settings)
    if settings.target is Target.SKINNING_NODES and not directions.is_neutral(host):
        raise UserError(
            f"{host.name}: skinning nodes play modes alone, without the curves and keys of its direction and "
            "the damping of its parts; bake it to a mesh cache, shape keys or helper bones, or reset these."
        )
    if settings.quality is Quality.DRAFT:
        return
    if settings.target is Target.SKINNING_NODES:
        raise UserError(
            f"{host.name}: skinning nodes play modes, of which this quality has none; bake it to a mesh "
            "cache, shape keys or helper bones, or bake a draft."
        )
    if settings.shards and settings.quality is Quality.LEARNT:
        raise UserError(
            f"{host.name}: learnt motion is simulated in a moment and has no shards; bake it without "
            "them, or choose Final."
        )


def refuse_without_modes(host: bpy.types.Object, settings: BakeSettings) -> None:
    """Refuses modes and unsupported targets for a loose or attached body."""
    kind = host.jounce.kind.lower()
    if settings.target not in PLAYS_SHAPES:
        raise UserError(
            f"{host.name} is {kind}, and has neither bones nor modes to play it; bake it to shape keys or a "
            "mesh cache."
        )
    if settings.shards:
        raise UserError(f"{host.name} is {kind}, so there are no shards of it; bake it without them.")


def refuse_stuck(obj: bpy.types.Object) -> None:
    """Refuses to free shape keys that a library would restore."""
    if obj.jounce.bake_keys and linked_mesh_proxy.is_foreign(obj.data):
        raise UserError(
            f"The mesh of {obj.name} brings the shape keys of a bake along from its own file; free that bake "
            "there, or make the mesh local (Diagnosis has a button)."
        )


def prepare(
    scene: BodyScene, body: object, motion: Motion, settings: BakeSettings, context: bpy.types.Context
) -> Preparation:
    """Computes a whole bake; the scene changes only in the writing afterwards."""
    return PREPARE[settings.target](scene, body, motion, settings, context)


def replace(wanted: list[Expected], made: list[Prepared], context: bpy.types.Context) -> list[float]:
    """Replaces the bakes of bodies; earlier ones are freed once the new ones are verified. Returns errors in
    metres.

    If the writing fails, or a bake does not show its flesh, all earlier bakes stay.
    """
    objects = [obj for each in wanted for obj in bodies.members(each.scene.host)]
    earlier = [replacing.Earlier(obj) for obj in objects]
    try:
        for prepared in made:
            prepared.write()
        with replacing.silenced(earlier):
            errors = measured.errors(wanted, [prepared.error for prepared in made], context)
    except BaseException:
        for prepared in made:
            prepared.discard()
        for obj in objects:
            free(obj)
        for bake in reversed(earlier):
            bake.restore()
        raise
    for bake in earlier:
        bake.remove(free)
    return errors


def free(obj: bpy.types.Object) -> None:
    """Removes any bake from a mesh; everything else stays unchanged."""
    for kind in (shape_keys, skinning_nodes, mesh_cache, helper_bones):
        kind.free(obj)
    for name in ("bake_target", "bake_modifier", "bake_modifier_name", "bake_played", "bake_played_name"):
        obj.jounce.property_unset(name)


def free_all(obj: bpy.types.Object) -> None:
    """Removes the bakes of all actions from a mesh."""
    for _ in kept.each(obj):
        free(obj)


def forget(host: bpy.types.Object) -> None:
    """Drops the host's record of a freed bake."""
    for name in RECORD:
        host.jounce.property_unset(name)
