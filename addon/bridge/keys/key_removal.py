"""Removes the shape keys of a bake from a mesh, and all keys from a copy."""

from collections.abc import Iterator
from contextlib import contextmanager

import bpy

from . import animation, own_keys


def remove(obj: bpy.types.Object) -> None:
    """Removes the keys of a bake from a mesh, and their Basis if no other key is left."""
    state = obj.jounce
    keys = obj.data.shape_keys
    active = obj.active_shape_key_index
    if keys is not None:
        for block in own_keys.of(keys):
            obj.shape_key_remove(block)
        own_keys.take_record(keys)
        if state.bake_made_basis and len(keys.key_blocks) == 1:
            obj.shape_key_remove(keys.key_blocks[0])
            keys = None
        count = 0 if keys is None else len(keys.key_blocks)
        obj.active_shape_key_index = max(0, min(active, count - 1))
    for name in ("bake_keys", "bake_made_basis"):
        state.property_unset(name)


def free_copy(made: bpy.types.Object) -> None:
    """Removes the bake from a temporary copy of an object and mesh; the artist's keys still play."""
    keys, action = made.data.shape_keys, made.jounce.bake_action
    if keys is None:
        return
    data = keys.animation_data
    if data is not None and action is not None and not animation.holds_more(action, own_keys.paths(keys)):
        animation.detach(action, data)
    remove(made)


@contextmanager
def leaving_no_block(made: bpy.types.Object) -> Iterator[None]:
    """Context for removing keys from a copy; deletes the key block that Blender 4 leaves behind with the
    last.
    """
    keys = made.data.shape_keys
    name = None if keys is None else keys.name
    yield
    if name is not None and name in bpy.data.shape_keys and made.data.shape_keys is None:
        bpy.data.batch_remove([bpy.data.shape_keys[name]])
