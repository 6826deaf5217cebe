"""Files of versions that recognised their data by names: a one-time conversion of their records to marks.

A mesh of a body carries the number of its format. Data that an older format does not name in a record (number
of keys, action, node group, copy, active preview) stays the artist's.
"""

import json
import re
from pathlib import Path

import bpy
from bpy.app.handlers import persistent

from ...core.flesh.settings import Target
from ...core.storage import pc2
from ..common import compat, linked_mesh_proxy, marks, registry
from ..keys import own_keys
from ..rig import modifier_stack, preview_modifier, rig_stack
from . import cache_files, skinning_nodes

# Prefix of version 0.
KEY = "jounce: "
ATTRIBUTE = "jounce: "
PREVIEW = "Jounce Preview"
COLLECTION = "Jounce Export "


@persistent
def update_all(*_: object) -> None:
    """Brings all bodies of the file to the present format."""
    registry.look_again()
    for obj in registry.meshes():
        if obj.library is None:
            update(obj)


def update(obj: bpy.types.Object) -> None:
    """Brings a mesh of a body to the present format."""
    state = obj.jounce
    if state.format >= registry.FORMAT:
        return
    if state.bake_keys and obj.data.shape_keys is not None:
        own_keys.record(obj.data.shape_keys, old_keys(obj))
    if state.bake_action is not None:
        marks.put(state.bake_action, marks.BAKE)
    if state.bake_group is not None:
        mark_group(state.bake_group)
    if state.bake_copy is not None:
        mark_copy(state.bake_copy)
    if (state if state.is_host or state.host is None else state.host.jounce).preview:
        mark_previews(obj)
    playing = next(filter(plays_old_bake, obj.modifiers), None)
    if playing is not None:
        modifier_stack.remember(playing)
        if playing.type == "MESH_CACHE" and made_cache(obj, playing):
            cache_files.record(obj, playing.filepath, bpy.data.filepath)
    state.format = registry.FORMAT


def old_keys(obj: bpy.types.Object) -> list[bpy.types.ShapeKey]:
    """The recorded number of keys moved by the recorded action."""
    state, keys = obj.jounce, obj.data.shape_keys
    curves = [] if state.bake_action is None else compat.every_fcurve(state.bake_action)
    found = [own_keys.VALUE.fullmatch(curve.data_path) for curve in curves]
    moved = {bpy.utils.unescape_identifier(path[1]) for path in found if path}
    named = [block for block in keys.key_blocks if block.name.startswith(KEY)]
    return [block for block in named if block.name in moved][: state.bake_keys]


def mark_group(tree: bpy.types.NodeTree) -> None:
    """Marks a node group of a bake, with action, holder and attributes."""
    action = None if tree.animation_data is None else tree.animation_data.action
    for block in filter(None, (tree, action)):
        marks.put(block, marks.BAKE)
    mark_holder(tree)
    nodes = [node for node in tree.nodes if node.bl_idname == "GeometryNodeInputNamedAttribute"]
    names = [node.inputs["Name"].default_value for node in nodes]
    read = [name for name in names if name.startswith(ATTRIBUTE)]
    tree[skinning_nodes.ATTRIBUTES] = json.dumps(read)


def mark_holder(tree: bpy.types.NodeTree) -> None:
    """Marks the holder of a node group, if there is one."""
    holder = linked_mesh_proxy.of(tree)
    if holder is not None and holder.name.startswith(linked_mesh_proxy.NAME):
        for block in (holder, holder.data):
            marks.put(block, marks.HOLDER)


def mark_copy(made: bpy.types.Object) -> None:
    """Marks a copy for game engines, its armature and their collection."""
    blocks = [made, made.data]
    above = made.parent
    if above is not None and above.type == "ARMATURE" and above.data.name.startswith(rig_stack.NAME):
        action = None if above.animation_data is None else above.animation_data.action
        blocks += [above, above.data, *filter(None, [action])]
    blocks += [other for other in made.users_collection if other.name.startswith(COLLECTION)]
    for block in blocks:
        marks.put(block, marks.BAKE)


def mark_previews(obj: bpy.types.Object) -> None:
    """Marks the node groups for the preview of a mesh."""
    trees = (modifier.node_group for modifier in obj.modifiers if modifier.type == "NODES")
    for tree in trees:
        if tree is not None and tree.name.startswith(PREVIEW):
            marks.put(tree, marks.PREVIEW)
            mark_holder(tree)
            mesh = linked_mesh_proxy.mesh_of(obj, tree)
            if preview_modifier.ATTRIBUTE in mesh.attributes:
                mesh[preview_modifier.NAME] = preview_modifier.ATTRIBUTE


def plays_old_bake(modifier: bpy.types.Modifier) -> bool:
    """True if a modifier plays the recorded bake of its object."""
    state = modifier.id_data.jounce
    if modifier_stack.is_linked(modifier.id_data, modifier):
        return False
    if modifier.type == "NODES":
        return modifier.node_group is not None and modifier.node_group == state.bake_group
    is_cache = modifier.type == "MESH_CACHE" and modifier.name.startswith(rig_stack.NAME)
    return is_cache and state.bake_target == Target.MESH_CACHE.value


def made_cache(obj: bpy.types.Object, modifier: bpy.types.MeshCacheModifier) -> bool:
    """True if the open .blend made the file of a modifier, judged by folder and name."""
    host = obj if obj.jounce.host is None else obj.jounce.host
    path, folder = cache_files.path_of(modifier), bpy.path.abspath(host.jounce.cache_folder or "//")
    stem = f"{Path(bpy.data.filepath).stem} {bpy.path.clean_name(obj.name)}"
    called = re.fullmatch(rf"{re.escape(stem)}( \d+)?{re.escape(pc2.SUFFIX)}", path.name)
    is_here = bool(bpy.data.filepath) and obj.library is None
    return is_here and called is not None and path.parent == Path(folder)


def handlers() -> list[list[object]]:
    """Handler lists for data from files: opened files, and since Blender 4.3 linked and appended data."""
    kinds = ("load_post", "blend_import_post")
    return [getattr(bpy.app.handlers, kind) for kind in kinds if hasattr(bpy.app.handlers, kind)]


def register() -> None:
    """Watches files, before all code that relies on marks, and converts the open file."""
    for listening in handlers():
        listening.append(update_all)
    if not bpy.app.background:
        bpy.app.timers.register(update_all, first_interval=0.0)


def unregister() -> None:
    """Undoes `register`."""
    for listening in handlers():
        listening.remove(update_all)
    if bpy.app.timers.is_registered(update_all):
        bpy.app.timers.unregister(update_all)
