"""Jounce's place in the modifier stack of a mesh.

A displacement is added to the shape of the rig. Therefore all modifiers of Jounce are right after the rig:
after everything that poses the mesh, before everything that the artist adds to the posed shape. A mesh has at
most one of them at a time: preview code calls `is_baked` first.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

import bpy

from ...core.common.user_error import UserError
from ..common import marks, registry
from ..keys import own_keys
from . import rig_stack
from .rig_stack import NAME

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
    active = obj.modifiers.active
    modifier = obj.modifiers.new(NAME, kind)
    place(obj, modifier)
    modifier.show_expanded = False
    modifier.show_in_editmode = False
    obj.modifiers.active = active
    return modifier


def place(obj: bpy.types.Object, modifier: bpy.types.Modifier) -> None:
    """Moves a modifier of Jounce right after the rig, unless already there."""
    index, end = obj.modifiers.find(modifier.name), rig_stack.end(obj)
    wanted = end - 1 if index < end else end
    if index != wanted:
        obj.modifiers.move(index, wanted)


def refuse_nodes(obj: bpy.types.Object) -> None:
    """Refuses a mesh with a modifier that forbids an earlier node group."""
    wanting = (m for m in list(obj.modifiers)[rig_stack.end(obj) :] if m.type in WANT_THE_MESH)
    modifier = next(wanting, None)
    if modifier is not None:
        raise UserError(
            f"The modifier {modifier.name} of {obj.name} needs the mesh itself, so neither a preview nor "
            "skinning nodes can stand before it; switch the preview off and bake to shape keys or a mesh "
            "cache, or remove the modifier."
        )


def insert_bake(obj: bpy.types.Object, kind: str) -> bpy.types.Modifier:
    """Inserts a modifier right after the rig and records it for the bake."""
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


# Hides modifiers again that an animated switch has shown in a new frame.
Hide = Callable[[], None]


def shown_as_posed(objects: Iterable[bpy.types.Object]) -> AbstractContextManager[Hide]:
    """Shows the meshes in their rigged shape: without modifiers of Jounce and all later ones."""
    objects = list(objects)
    rigs = {obj: rig_stack.modifiers(obj) for obj in objects}
    later = [modifier for obj in objects for modifier in obj.modifiers if modifier not in rigs[obj]]
    return hidden(later, [key for obj in objects for key in own_keys.of(obj.data.shape_keys)])


def shown_as_baked(objects: Iterable[bpy.types.Object]) -> AbstractContextManager[Hide]:
    """Shows meshes with their bakes, and copies with their bones, without later modifiers."""
    later: list[bpy.types.Modifier] = []
    for obj in objects:
        if marks.has(obj, marks.BAKE):
            later += obj.modifiers[1:]
            continue
        shown = [*rig_stack.modifiers(obj), bake_modifier(obj)]
        later += [modifier for modifier in obj.modifiers if modifier not in shown]
    return hidden(later, [])


@contextmanager
def hidden(modifiers: list[bpy.types.Modifier], keys: list[bpy.types.ShapeKey]) -> Iterator[Hide]:
    """Switches modifiers and shape keys off for a while."""
    shown = [modifier for modifier in modifiers if modifier.show_viewport]
    audible = [key for key in keys if not key.mute]

    def hide() -> None:
        for modifier in modifiers:
            if modifier.show_viewport:
                modifier.show_viewport = False

    try:
        hide()
        for key in audible:
            key.mute = True
        yield hide
    finally:
        for modifier in shown:
            modifier.show_viewport = True
        for key in audible:
            key.mute = False
