"""Bakes of several actions on the same meshes, of which the one of the played action shows.

A mesh keeps the records of the others in `kept_bakes`. Their shape keys are muted, and their node groups hang
on no modifier; a change of the action mutes, unmutes and exchanges them. Without Jounce the file shows the
bake of the action that played last.
"""

from collections.abc import Iterator

import bpy
from bpy.app.handlers import persistent

from ...core.common.user_error import UserError
from ...core.flesh.settings import Target
from ..body import bodies
from ..common import handlers, registry
from ..keys import own_keys
from ..rig import armature_modifier, modifier_stack
from . import replacing

# Targets entirely in the .blend; several of these fit on a mesh.
TARGETS = frozenset((Target.MODAL_KEYS, Target.FRAME_KEYS, Target.SKINNING_NODES))
# Properties of a mesh's bake, and of a host's report about it.
RECORDED = (
    "bake_target",
    "bake_keys",
    "bake_action",
    "bake_group",
    "bake_played",
    "bake_played_name",
    "bake_parts",
    "bake_range",
    "bake_seam",
    "bake_draft_error",
    "bake_depth",
    "bake_error",
)
# Flags of a mesh with a Basis, or an animation of its keys, made by bakes.
MADE = ("bake_made_basis", "bake_made_animation")
Played = bpy.types.Action | None


def playing(host: bpy.types.Object) -> Played:
    """The active action of the armature that moves a body; None if strips alone play."""
    armatures = armature_modifier.moving(bodies.members(host))
    data = armatures[0].animation_data if armatures else None
    return None if data is None else data.action


def label(host: bpy.types.Object, action: Played) -> None:
    """Records the action of a body's new bake.

    A linked action is recorded by name alone: a pointer would link the action directly, for good.
    """
    own = action if action is None or action.library is None else None
    for obj in bodies.members(host):
        obj.jounce.bake_played, obj.jounce.bake_played_name = own, "" if action is None else action.name_full


def names(host: bpy.types.Object) -> list[str]:
    """The baked actions of a body with kept bakes, by name."""
    records = [host.jounce, *host.jounce.kept_bakes]
    known = {action.name_full for action in bpy.data.actions if any(is_of(each, action) for each in records)}
    return sorted(known) if len(records) > 1 else []


def refuse(host: bpy.types.Object, target: Target) -> None:
    """Refuses a bake for a single action without a place beside the others."""
    if target not in TARGETS:
        raise UserError(
            f"{host.name}: bakes of several actions are shape keys or skinning nodes; choose one of these as "
            "Bake To, or free the bakes."
        )


def refuse_shown(host: bpy.types.Object) -> None:
    """Refuses to keep a present bake that has no place beside others."""
    target = host.jounce.bake_target
    if target:
        refuse(host, Target(target))


def sync(host: bpy.types.Object) -> None:
    """Shows the bake of the played action of a body with several bakes, or none."""
    if len(host.jounce.kept_bakes):
        show(host, playing(host))


def show(host: bpy.types.Object, action: Played) -> None:
    """Shows the bake of an action, if any, and keeps the present bake."""
    if not is_of(host.jounce, action):
        for obj in bodies.members(host):
            put_aside(obj)
            take_up(obj, action)


def is_of(record: bpy.types.PropertyGroup, action: Played) -> bool:
    """True for the record of a bake of this action; None stands for strips, and for no deleted action."""
    if not is_record(record):
        return False
    if action is None or action.library is None:
        return record.bake_played == action and (action is not None or not record.bake_played_name)
    return record.bake_played is None and record.bake_played_name == action.name_full


def is_record(record: bpy.types.PropertyGroup) -> bool:
    """True for the record of a bake; the host of a body may have none but the report."""
    return bool(record.bake_target) or record.is_property_set("bake_range")


def put_aside(obj: bpy.types.Object) -> None:
    """Hides the bake of a mesh and keeps its record."""
    state = obj.jounce
    if not is_record(state):
        return
    modifier, keys = modifier_stack.bake_modifier(obj), replacing.own(obj)
    own_keys.refresh(keys)
    for block in own_keys.of(keys):
        block.mute = True
    kept = state.kept_bakes.add()
    kept.keys = own_keys.take_record(keys) or ""
    for name in RECORDED:
        if state.is_property_set(name):
            setattr(kept, name, getattr(state, name))
            state.property_unset(name)
    for name in made(state):
        setattr(kept, name, True)
    if modifier is not None:
        modifier_stack.remove(obj, modifier)
    for name in ("bake_modifier", "bake_modifier_name"):
        state.property_unset(name)


def take_up(obj: bpy.types.Object, action: Played) -> None:
    """Shows the kept bake of an action on a mesh."""
    found = (index for index, kept in enumerate(obj.jounce.kept_bakes) if is_of(kept, action))
    index = next(found, None)
    if index is not None:
        restore(obj, index)


def restore(obj: bpy.types.Object, index: int) -> None:
    """Shows a kept bake on a mesh without a shown one."""
    state, keys = obj.jounce, replacing.own(obj)
    kept = state.kept_bakes[index]
    for name in RECORDED:
        if kept.is_property_set(name):
            setattr(state, name, getattr(kept, name))
    for name in made(kept):
        setattr(state, name, True)
    if kept.keys and keys is not None:
        keys[own_keys.RECORD] = kept.keys
        for block in own_keys.of(keys):
            block.mute = False
    state.kept_bakes.remove(index)
    if state.bake_group is not None:
        modifier_stack.insert_bake(obj, "NODES").node_group = state.bake_group


def each(obj: bpy.types.Object) -> Iterator[None]:
    """Shows all bakes of a mesh in turn, for freeing; each has to be freed before the next."""
    state = obj.jounce
    owed = {name for record in (state, *state.kept_bakes) for name in made(record)}
    yield
    while len(state.kept_bakes):
        restore(obj, 0)
        # The last bake takes the Basis and the animation data along.
        for name in owed:
            setattr(state, name, True)
        yield


def made(record: bpy.types.PropertyGroup) -> list[str]:
    """The names of what the mesh owes to bakes."""
    return [name for name in MADE if getattr(record, name)]


def hosts() -> list[bpy.types.Object]:
    """The hosts of bodies with several bakes."""
    return [
        obj
        for obj in registry.meshes()
        if obj.library is None and obj.jounce.is_host and len(obj.jounce.kept_bakes)
    ]


@persistent
def after_step(*_: object) -> None:
    """A file was opened, or a step undone."""
    for host in hosts():
        sync(host)


@persistent
def after_change(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Another action tags the playing object; a new frame does not."""
    if depsgraph.id_type_updated("OBJECT"):
        after_step()


HANDLERS = {
    "load_post": after_step,
    "undo_post": after_step,
    "redo_post": after_step,
    "depsgraph_update_post": after_change,
}


def register() -> None:
    """Watches the played actions."""
    handlers.listen(HANDLERS, True)


def unregister() -> None:
    """Undoes `register`."""
    handlers.listen(HANDLERS, False)
