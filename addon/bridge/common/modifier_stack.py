"""Jounce's place in the modifier stack of a mesh.

A displacement is added to the shape of the rig. Therefore all modifiers of Jounce are right after the rig:
after everything that poses the mesh, before everything that the artist adds to the posed shape. A mesh has at
most one of them at a time: preview code calls `is_baked` first.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import bpy

from ...core.user_error import UserError
from ..bake import own_keys
from ..rig import rig_stack
from ..rig.rig_stack import NAME
from . import registry

# Modifiers that allow only deforming modifiers before them.
WANT_THE_MESH = frozenset(["MULTIRES", "SOFT_BODY"])


def is_baked(obj: bpy.types.Object) -> bool:
    """True if a mesh carries a finished bake of any kind."""
    state = registry.state(obj)
    return state is not None and bool(state.bake_target)


def bake_modifier(obj: bpy.types.Object) -> bpy.types.Modifier | None:
    """The modifier of a bake, None for shape keys or without a bake."""
    playing = (modifier for modifier in obj.modifiers if rig_stack.plays_bake(modifier))
    return next((m for m in playing if not is_linked(obj, m) or m.show_viewport), None)


def insert(obj: bpy.types.Object, kind: str) -> bpy.types.Modifier:
    """Inserts a modifier right after the rig; the artist's active modifier stays active."""
    index = rig_stack.end(obj)
    active = obj.modifiers.active
    modifier = obj.modifiers.new(NAME, kind)
    obj.modifiers.move(obj.modifiers.find(modifier.name), index)
    modifier.show_expanded = False
    modifier.show_in_editmode = False
    obj.modifiers.active = active
    return modifier


def refuse_nodes(obj: bpy.types.Object) -> None:
    """Refuses a mesh with a modifier that allows no node group before it."""
    wanting = (m for m in list(obj.modifiers)[rig_stack.end(obj) :] if m.type in WANT_THE_MESH)
    modifier = next(wanting, None)
    if modifier is not None:
        raise UserError(
            f"The modifier {modifier.name} of {obj.name} wants the mesh itself, so neither a preview nor "
            "skinning nodes can stand before it; switch the preview off and bake to shape keys or a mesh "
            "cache, or take it off."
        )


def insert_bake(obj: bpy.types.Object, kind: str) -> bpy.types.Modifier:
    """Inserts a modifier right after the rig and records it as the one of the bake."""
    modifier = insert(obj, kind)
    remember(modifier)
    return modifier


def shorten_name(obj: bpy.types.Object) -> None:
    """Renames the bake's modifier once its proper name is free."""
    modifier = bake_modifier(obj)
    if modifier is not None and modifier.name != NAME and NAME not in obj.modifiers:
        modifier.name = NAME
        remember(modifier)


def remember(modifier: bpy.types.Modifier) -> None:
    """Records a modifier as the one of the bake."""
    state = modifier.id_data.jounce
    state.bake_modifier, state.bake_modifier_name = modifier.persistent_uid, modifier.name


def is_linked(obj: bpy.types.Object, modifier: bpy.types.Modifier) -> bool:
    """True if a modifier of a library override comes from the library."""
    return obj.override_library is not None and modifier.is_override_data


def remove(obj: bpy.types.Object, modifier: bpy.types.Modifier) -> None:
    """Removes a modifier of Jounce; the artist's active modifier stays active.

    A modifier that the library would restore is switched off instead.
    """
    if is_linked(obj, modifier):
        modifier.show_viewport = modifier.show_render = False
        return
    active = obj.modifiers.active
    # After the removal the comparison is no longer possible.
    was_active = active == modifier
    obj.modifiers.remove(modifier)
    if not was_active:
        obj.modifiers.active = active


@contextmanager
def shown_as_posed(objects: Iterable[bpy.types.Object]) -> Iterator[None]:
    """Shows the meshes in their rigged shape: without modifiers of Jounce and all later ones."""
    hidden: list[bpy.types.Modifier] = []
    muted: list[bpy.types.ShapeKey] = []
    try:
        for obj in objects:
            rig = rig_stack.modifiers(obj)
            later = [m for m in obj.modifiers if m.show_viewport and m not in rig]
            ours = [key for key in own_keys.of(obj.data.shape_keys) if not key.mute]
            for modifier in later:
                modifier.show_viewport = False
            for key in ours:
                key.mute = True
            hidden += later
            muted += ours
        yield
    finally:
        for modifier in hidden:
            modifier.show_viewport = True
        for key in muted:
            key.mute = False
