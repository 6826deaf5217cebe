"""Displays displacements on meshes: a point attribute, and a modifier right after the armature.

The modifier is off in renders, which show bakes. The attribute is called `jounce`, with a number if the
artist uses this name; mesh and node group record the name.
"""

import bpy
import numpy as np

from ..common import linked_mesh_proxy, marks, nodes, registry
from . import modifier_stack, rig_stack

ATTRIBUTE = "jounce"
# Custom property of a mesh and of a node group: the name of the attribute.
NAME = "jounce_preview"
GROUP = f"{modifier_stack.NAME} Preview"


def add(obj: bpy.types.Object) -> None:
    """Adds attribute and modifier if missing."""
    for linked in [m for m in modifiers(obj) if modifier_stack.is_linked(obj, m)]:
        # Preview saved in the library file.
        modifier_stack.remove(obj, linked)
    modifier = modifier_of(obj)
    if modifier is None:
        modifier = modifier_stack.insert(obj, "NODES")
        modifier.show_render = False
    else:
        modifier_stack.place(obj, modifier)
    tree = modifier.node_group
    if tree is None or (linked_mesh_proxy.of(tree) is not None and tree.users > 1):
        # A copy of an object must not share the original's attribute.
        tree = modifier.node_group = group(obj)
    mesh, name = linked_mesh_proxy.mesh_of(obj, tree), read_by(tree)
    if name not in mesh.attributes:
        nothing = np.zeros((len(mesh.vertices), 3), np.float32)
        nodes.set_attribute(mesh, name, "FLOAT_VECTOR", nothing)
        mesh[NAME] = name


def is_shown(obj: bpy.types.Object) -> bool:
    """True if both exist."""
    modifier = modifier_of(obj)
    tree = None if modifier is None else modifier.node_group
    return tree is not None and read_by(tree) in linked_mesh_proxy.mesh_of(obj, tree).attributes


def modifier_of(obj: bpy.types.Object) -> bpy.types.Modifier | None:
    """The modifier of a preview, None without one."""
    return next((m for m in modifiers(obj) if not modifier_stack.is_linked(obj, m)), None)


def modifiers(obj: bpy.types.Object) -> list[bpy.types.Modifier]:
    """The modifiers of a preview, including those from a library."""
    return [modifier for modifier in obj.modifiers if rig_stack.shows_preview(modifier)]


def group(obj: bpy.types.Object) -> bpy.types.NodeTree:
    """The node group that adds the attribute, a world-space offset, to the positions of an object.

    Local meshes share one group; a linked mesh has its own.
    """
    holder = linked_mesh_proxy.new(obj)
    name = ATTRIBUTE if holder is not None else obj.data.get(NAME) or nodes.unused_name(obj.data, ATTRIBUTE)
    if holder is None and (known := shared_group(name)) is not None:
        return known
    made = nodes.Group(GROUP if holder is None else f"{GROUP} {obj.name}")
    offsets = made.attribute(name, "FLOAT_VECTOR", 2.0, 0.0)
    if holder is not None:
        offsets = made.sampled(offsets, holder, 2.0)
    made.finish(made.to_object_space(offsets, 4.0), 6.0, [name] if holder is None else [])
    marks.put(made.tree, marks.PREVIEW)
    made.tree[NAME] = name
    return made.tree


def shared_group(name: str) -> bpy.types.NodeTree | None:
    """The group of local meshes with an attribute, None before the first use."""
    own = (tree for tree in bpy.data.node_groups if tree.library is None and marks.has(tree, marks.PREVIEW))
    return next((tree for tree in own if linked_mesh_proxy.of(tree) is None and read_by(tree) == name), None)


def read_by(tree: bpy.types.NodeTree) -> str:
    """The name of the attribute in a node group."""
    return tree.get(NAME, ATTRIBUTE)


def remove(obj: bpy.types.Object) -> None:
    """Removes both, and the group with its last mesh."""
    modifier = modifier_of(obj)
    if modifier is not None:
        tree = modifier.node_group
        modifier_stack.remove(obj, modifier)
        if tree.users == 0:
            linked_mesh_proxy.remove_group(tree)
    others = (other for other in bpy.data.objects if other != obj and other.type == "MESH")
    needed = {other.data for other in others if registry.is_of_body(other) or modifiers(other)}
    for mesh in [mesh for mesh in bpy.data.meshes if NAME in mesh and mesh not in needed]:
        # A script may have exchanged the mesh during the preview.
        if not linked_mesh_proxy.is_foreign(mesh) and not marks.has(mesh, marks.HOLDER):
            nodes.remove_attributes(mesh, [mesh.pop(NAME)])


def write(obj: bpy.types.Object, offsets: np.ndarray) -> bool:
    """Writes world offsets (p, 3) f32 in Blender units; False if the mesh cannot take them at present."""
    modifier = modifier_of(obj)
    if modifier is None or obj.mode == "EDIT":
        return False
    mesh = linked_mesh_proxy.mesh_of(obj, modifier.node_group)
    attribute = mesh.attributes.get(read_by(modifier.node_group))
    if attribute is None or len(attribute.data) != len(offsets):
        return False
    attribute.data.foreach_set("vector", offsets.ravel())
    mesh.update_tag()
    return True
