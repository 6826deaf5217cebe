"""What of Jounce stands in the modifier stack of a mesh, and where it belongs.

A displacement is added to what the rig makes, so everything of ours stands right after the rig: after
whatever the pose is, before whatever the artist does with the posed shape. A mesh shows one thing of
ours at a time: what shows a preview asks `is_baked` first.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import bpy

from . import posing, registry
from .nodes import PREFIX
from .posing import NAME


def is_baked(obj: bpy.types.Object) -> bool:
    """Whether a mesh carries a finished bake of any kind."""
    state = registry.state(obj)
    return state is not None and bool(state.bake_target)


def bake_modifier(obj: bpy.types.Object) -> bpy.types.Modifier | None:
    """The modifier that plays a bake, None where shape keys do or nothing is baked."""
    state = obj.jounce
    for modifier in obj.modifiers:
        if is_linked(obj, modifier) and not modifier.show_viewport:
            continue
        if modifier.type == "NODES" and modifier.node_group is not None:
            if modifier.node_group == state.bake_group:
                return modifier
        elif modifier.type == "MESH_CACHE" and modifier.name.startswith(NAME):
            return modifier
    return None


def insert(obj: bpy.types.Object, kind: str) -> bpy.types.Modifier:
    """A new modifier right after the rig; the artist's active one stays active."""
    index = posing.end(obj)
    active = obj.modifiers.active
    modifier = obj.modifiers.new(NAME, kind)
    obj.modifiers.move(obj.modifiers.find(modifier.name), index)
    modifier.show_expanded = False
    modifier.show_in_editmode = False
    obj.modifiers.active = active
    return modifier


def is_linked(obj: bpy.types.Object, modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier of a library override is one that the other file has."""
    return obj.override_library is not None and modifier.is_override_data


def remove(obj: bpy.types.Object, modifier: bpy.types.Modifier) -> None:
    """Takes a modifier of ours off; the artist's active one stays active.

    One that another file would bring back is switched off.
    """
    if is_linked(obj, modifier):
        modifier.show_viewport = modifier.show_render = False
        return
    active = obj.modifiers.active
    # Once it is removed, it cannot be told from itself any more.
    was_active = active == modifier
    obj.modifiers.remove(modifier)
    if not was_active:
        obj.modifiers.active = active


@contextmanager
def shown_as_posed(objects: Iterable[bpy.types.Object]) -> Iterator[None]:
    """Shows the meshes as their rigs leave them: nothing of ours, no later modifiers."""
    hidden: list[bpy.types.Modifier] = []
    muted: list[bpy.types.ShapeKey] = []
    try:
        for obj in objects:
            rig = posing.modifiers(obj)
            later = [m for m in obj.modifiers if m.show_viewport and m not in rig]
            keys = () if obj.data.shape_keys is None else obj.data.shape_keys.key_blocks
            ours = [key for key in keys if key.name.startswith(PREFIX) and not key.mute]
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
