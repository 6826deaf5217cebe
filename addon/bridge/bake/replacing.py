"""Keeps an earlier bake while another one is written, and frees the earlier bake after success.

For this time a mesh has two bakes. The object's record is that of the new bake. The data of the earlier bake
stays in place and loses only the names of its data-blocks, which the new bake gets.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from ..common import linked_mesh_proxy, marks, nodes, registry
from ..keys import animation, own_keys
from ..rig import modifier_stack
from . import helper_bones, skinning_nodes

# An object's record of its bake.
RECORDED = (
    "bake_target",
    "bake_played",
    "bake_played_name",
    "bake_keys",
    "bake_action",
    "bake_group",
    *helper_bones.RECORDED,
    "bake_modifier",
    "bake_modifier_name",
    "bake_cache",
    "bake_blend",
    "bake_made_basis",
    "bake_made_animation",
)
ASIDE = "before"


class Record:
    """The record of a mesh's bake, detached from the mesh."""

    def __init__(self, obj: bpy.types.Object) -> None:
        state = obj.jounce
        self._obj = obj
        self.values: dict[str, Any] = {
            name: getattr(state, name) for name in RECORDED if state.is_property_set(name)
        }
        for name in self.values:
            state.property_unset(name)
        self._keys = own_keys.take_record(own(obj))

    def put(self) -> None:
        """Writes the record back to the mesh in the place of another one, without deleted data."""
        for name, value in self.values.items():
            if not isinstance(value, bpy.types.ID) or registry.is_there(value):
                setattr(self._obj.jounce, name, value)
        if self._keys is not None:
            own(self._obj)[own_keys.RECORD] = self._keys


class Earlier:
    """The earlier bake of a mesh, if any, during the writing of another."""

    def __init__(self, obj: bpy.types.Object) -> None:
        self._obj = obj
        # Reading a pointer sets it to None.
        self._unset = [name for name in RECORDED if not obj.jounce.is_property_set(name)]
        self._names = [(block, block.name) for block in blocks(obj)]
        for block, name in self._names:
            block.name = f"{name} {ASIDE}"
        self._attributes = skinning_nodes.attributes_of(obj.jounce.bake_group)
        uid = obj.jounce.bake_modifier
        # By present names, to distinguish them from equal shapes of the other bake.
        own_keys.refresh(own(obj))
        self.keys = own_keys.of(own(obj))
        self._record = Record(obj)
        obj.jounce.bake_earlier = uid

    def restore(self) -> None:
        """Frees the unfinished other bake and restores the earlier one."""
        self._record.put()
        for name in ("bake_earlier", *self._unset):
            self._obj.jounce.property_unset(name)
        for block, name in reversed(self._names):
            block.name = name

    def remove(self, free: Callable[[bpy.types.Object], None]) -> None:
        """Frees this bake after the other one is finished."""
        made = Record(self._obj)
        self._record.put()
        self._obj.jounce.property_unset("bake_earlier")
        free(self._obj)
        made.put()
        state, keys = self._obj.jounce, self._obj.data.shape_keys
        if state.bake_keys and keys is not None:
            if self._record.values.get("bake_made_basis"):
                state.bake_made_basis = True
            if self._record.values.get("bake_made_animation"):
                state.bake_made_animation = True
                animation.make_active(self._obj)
            own_keys.shorten_names(keys)
        modifier_stack.shorten_name(self._obj)
        if state.bake_copy is not None:
            nodes.remove_attributes(state.bake_copy.data, self._attributes)


@contextmanager
def silenced(earlier: Iterable[Earlier]) -> Iterator[None]:
    """Context with muted shape keys of earlier bakes; their modifiers are hidden with the later ones."""
    audible = [key for bake in earlier for key in bake.keys if not key.mute]
    try:
        for key in audible:
            key.mute = True
        yield
    finally:
        for key in audible:
            key.mute = False


def own(obj: bpy.types.Object) -> bpy.types.Key | None:
    """The editable shape keys of a mesh."""
    return None if linked_mesh_proxy.is_foreign(obj.data) else obj.data.shape_keys


def blocks(obj: bpy.types.Object) -> list[bpy.types.ID]:
    """The local data-blocks made by the bake of a mesh."""
    state, armature = obj.jounce, obj.jounce.bake_rig
    found = [state.bake_action, state.bake_group]
    if state.bake_group is not None:
        found += [linked_mesh_proxy.of(state.bake_group), action_of(state.bake_group)]
    found += [state.bake_copy, armature, action_of(armature), *helper_bones.collections_of(obj)]
    found += [block.data for block in found if isinstance(block, bpy.types.Object)]
    kinds = (marks.BAKE, marks.HOLDER)
    own_blocks = (b for b in found if b is not None and b.library is None)
    return [block for block in dict.fromkeys(own_blocks) if any(marks.has(block, kind) for kind in kinds)]


def action_of(block: bpy.types.ID | None) -> bpy.types.Action | None:
    """The action on a data-block."""
    return None if block is None or block.animation_data is None else block.animation_data.action
