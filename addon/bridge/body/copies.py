"""Copies of meshes: meshes copied together become a body of their own.

A copied mesh of a body is a body by itself, with the settings of its original. The copy neither changes the
motion of the original nor shows a stale motion. A mesh whose host has been deleted becomes a body of its own
as well.
"""

from collections.abc import Iterable

import bpy
import numpy as np
from bpy.app.handlers import persistent

from ..common import handlers, linked_mesh_proxy, registry
from ..rig import meshes, modifier_stack, preview_modifier
from . import law_curves, muscles

# Settings of a single mesh, not of the body.
OWN = frozenset(["name", "is_host", "host", "bind_matrix", "mode_index", "seam_index", "is_diagnosed"])
OWN_PREFIXES = ("bake_", "built_", "learnt_")

# By session_uid: the known meshes, None before a file was inspected, and the copies among them.
_seen: set[int] | None = None
_parted: set[int] = set()


def part(objects: Iterable[bpy.types.Object]) -> None:
    """Makes copies of single meshes, and meshes without their host, bodies of their own."""
    global _seen
    _parted.difference_update(registry.JOINED)
    own = [obj for obj in objects if obj.library is None]
    for obj in own:
        if _seen is not None and obj.session_uid not in _seen | registry.JOINED:
            stop_showing(obj)
        if not obj.jounce.is_host and (is_left(obj) or is_copy(obj)):
            _parted.add(obj.session_uid)
            make_own(obj)
        law_curves.part(obj)
    _seen = (_seen or set()) | {obj.session_uid for obj in own}
    registry.JOINED.clear()


def is_copy(obj: bpy.types.Object) -> bool:
    """True if a mesh was copied without its host."""
    uid, host = obj.session_uid, obj.jounce.host
    if _seen is None or host is None:
        return False
    return uid in _parted or (uid not in _seen | registry.JOINED and host.session_uid in _seen)


def is_left(obj: bpy.types.Object) -> bool:
    """True for a mesh built as part of a body whose host has been deleted."""
    return obj.jounce.host is None and any(obj.jounce.bind_matrix)


def stop_showing(obj: bpy.types.Object) -> None:
    """Hides the motion on a copy until the copy has its own."""
    if preview_modifier.modifier_of(obj) is None:
        return
    if shares_mesh(obj):
        obj.jounce.property_unset("preview")
        return
    preview_modifier.add(obj)
    preview_modifier.write(obj, np.zeros((len(obj.data.vertices), 3), np.float32))


def shares_mesh(obj: bpy.types.Object) -> bool:
    """True if another object shares the mesh of an object."""
    return not linked_mesh_proxy.is_foreign(obj.data) and meshes.sharer(obj) is not None


def make_own(obj: bpy.types.Object) -> None:
    """Makes a mesh the host of a body, with the settings of its former host."""
    state, host = obj.jounce, obj.jounce.host
    state.property_unset("host")
    state.is_host = True
    if host is None:
        return
    for name in registry.stored(state):
        is_setting = name not in OWN and not name.startswith(OWN_PREFIXES)
        is_setting = is_setting and not state.bl_rna.properties[name].is_readonly
        if is_setting and host.jounce.is_property_set(name):
            setattr(state, name, getattr(host.jounce, name))
    state.take_parts(host.jounce.part_rows())
    for direction in host.jounce.directions:
        state.directions.add().take(direction)
    for muscle in host.jounce.more_muscles:
        muscles.add(obj, muscle)
    if modifier_stack.is_baked(obj) or shares_mesh(obj):
        state.property_unset("preview")


@persistent
def after_loading(*_: object) -> None:
    """Contents of a file stay unchanged; `part` handles later copies."""
    global _seen
    _seen = None
    _parted.clear()
    registry.JOINED.clear()
    part(registry.meshes())


@persistent
def after_change(_scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Notes new objects, which always enter a collection."""
    if depsgraph.id_type_updated("COLLECTION"):
        part(registry.meshes())


HANDLERS = {"load_post": after_loading, "depsgraph_update_post": after_change}


def register() -> None:
    """Watches for copies."""
    handlers.listen(HANDLERS, True)


def unregister() -> None:
    """Undoes `register`."""
    handlers.listen(HANDLERS, False)
