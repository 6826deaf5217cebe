"""Points that hold values for a mesh of another file, as Blender saves no attribute of such a mesh.

A linked character whose objects are library overrides keeps its meshes in its own file. A *holder* is an
object of this file with as many points as such a mesh has, in no scene; its attributes are read by a node
group of the mesh, point by point. The group alone knows it, so it is saved, copied and appended with it.
"""

import bpy

from . import marks
from .nodes import holder_node

NAME = "Jounce Values"


def is_foreign(mesh: bpy.types.Mesh) -> bool:
    """Whether what is added to a mesh would not be saved with this file."""
    return mesh.library is not None or mesh.override_library is not None


def new(obj: bpy.types.Object) -> bpy.types.Object | None:
    """A holder for an object, None for a mesh that holds its values itself."""
    if not is_foreign(obj.data):
        return None
    mesh = bpy.data.meshes.new(f"{NAME} {obj.name}")
    mesh.vertices.add(len(obj.data.vertices))
    holder = bpy.data.objects.new(mesh.name, mesh)
    for block in (holder, mesh):
        marks.put(block, marks.HOLDER)
    return holder


def of(tree: bpy.types.NodeTree) -> bpy.types.Object | None:
    """The holder that a node group reads, None for a group that reads the mesh it moves."""
    node = holder_node(tree)
    return None if node is None else node.inputs["Object"].default_value


def mesh_of(obj: bpy.types.Object, tree: bpy.types.NodeTree) -> bpy.types.Mesh:
    """The mesh whose attributes a node group reads when it moves an object."""
    holder = of(tree)
    return obj.data if holder is None else holder.data


def remove_group(tree: bpy.types.NodeTree) -> None:
    """Takes a node group out of the file, with its holder."""
    holder = of(tree)
    bpy.data.node_groups.remove(tree)
    if holder is not None and holder.users == 0 and marks.has(holder, marks.HOLDER):
        mesh = holder.data
        bpy.data.objects.remove(holder)
        if mesh.users == 0:
            bpy.data.meshes.remove(mesh)
