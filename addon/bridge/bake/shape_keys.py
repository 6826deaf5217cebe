"""Writes the shape keys of a bake and removes exactly these again.

`own_keys` distinguishes the bake's keys from all others. A mesh without shape keys gets a Basis, which is
removed with the bake unless the artist has added keys meanwhile.
"""

from functools import partial

import bpy
import numpy as np

from ...core.bake.keys import KeySet, key_sets
from ...core.bake.prepared import Preparation, Prepared
from ...core.common.user_error import UserError
from ...core.flesh.settings import BakeSettings
from ...core.stepping.motion import Motion
from ..body.bodies import BodyScene
from ..common import frames, linked_mesh_proxy
from ..common.nodes import PREFIX
from ..keys import animation, key_removal, own_keys
from ..rig import meshes
from ..rig.armature_modifier import Warn


def prepare(
    scene: BodyScene, body: object, motion: Motion, settings: BakeSettings, context: bpy.types.Context
) -> Preparation:
    """Computes the keys of all meshes; nothing changes before the writing."""
    sets = yield from key_sets(body, scene.surface, motion, settings)
    count = sum(len(keys.names) for keys in sets)
    return Prepared(
        max(keys.error for keys in sets),
        f"{count} shape keys" if count else "",
        partial(write_all, scene, sets, settings, frames.times(settings.frames, context.scene)),
    )


def write_all(scene: BodyScene, sets: list[KeySet], settings: BakeSettings, times: np.ndarray) -> None:
    """Adds the keys of all meshes."""
    for obj, keys in zip(scene.objects, sets, strict=True):
        write(obj, keys, times)
        obj.jounce.bake_target = settings.target.value


def write(obj: bpy.types.Object, keys: KeySet, times: np.ndarray) -> None:
    """Adds the keys of a part, each row of values at its time; a part without motion gets none."""
    if not keys.names:
        return
    state = obj.jounce
    shown = (obj.active_shape_key_index, obj.show_only_shape_key)
    if obj.data.shape_keys is None:
        obj.shape_key_add(name="Basis", from_mix=False)
        state.bake_made_basis = True
    base = meshes.rest_points(obj)
    blocks = []
    for index, name in enumerate(keys.names):
        block = obj.shape_key_add(name=PREFIX + name, from_mix=False)
        block.relative_key = obj.data.shape_keys.reference_key
        block.points.foreach_set("co", (base + keys.local_offsets(index)).astype(np.float32).ravel())
        blocks.append(block)
    obj.active_shape_key_index, obj.show_only_shape_key = shown
    own_keys.record(obj.data.shape_keys, blocks)
    animation.write(obj, [block.name for block in blocks], keys.values, times)
    state.bake_keys = len(blocks)
    obj.data.update()


def refuse_foreign(obj: bpy.types.Object) -> None:
    """Refuses a mesh whose shape keys would not be saved in this file."""
    if linked_mesh_proxy.is_foreign(obj.data):
        raise UserError(
            f"The mesh of {obj.name} is linked from another file, so it cannot get shape keys; bake to "
            "Skinning Nodes or Mesh Cache, or make the mesh local (Diagnosis has a button)."
        )


def warn_if_hidden(obj: bpy.types.Object, warn: Warn) -> None:
    """Warns that Blender shows only the pinned key of a mesh, and therefore no bake."""
    if obj.data.shape_keys is not None and obj.show_only_shape_key:
        warn(f"{obj.name} shows only its active shape key, so the bake is not seen; unpin it.")


def free(obj: bpy.types.Object) -> None:
    """Removes the bake from a mesh; all other keys, values and animation stay unchanged."""
    if linked_mesh_proxy.is_foreign(obj.data):
        return
    animation.free(obj)
    key_removal.remove(obj)
