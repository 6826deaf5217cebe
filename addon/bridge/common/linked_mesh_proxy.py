"""Points with values for a linked mesh, since Blender saves no attributes of such a mesh.

A linked character of library overrides keeps its meshes in the library file. A *holder* is a local object
outside of any scene with the same number of points as such a mesh; the mesh's node group reads the holder's
attributes, point by point. Only the group refers to the holder, which is saved, copied and appended with the
group.
"""

import bpy

from . import marks
from .nodes import holder_node

NAME = "Jounce Values"


def is_foreign(mesh: bpy.types.Mesh) -> bool:
    """True if changes to a mesh would not be saved in this file."""
    return mesh.library is not None or mesh.override_library is not None


def new(obj: bpy.types.Object) -> bpy.types.Object | None:
    """A holder for an object, None for a mesh that can hold the values itself."""
    if not is_foreign(obj.data):
        return None
    mesh = bpy.data.meshes.new(f"{NAME} {obj.name}")
    mesh.vertices.add(len(obj.data.vertices))
    holder = bpy.data.objects.new(mesh.name, mesh)
    for block in (holder, mesh):
        marks.put(block, marks.HOLDER)
    return holder


def of(tree: bpy.types.NodeTree) -> bpy.types.Object | None:
    """The holder of a node group, None if the group reads the object's own mesh."""
    node = holder_node(tree)
    return None if node is None else node.inputs["Object"].default_value


def mesh_of(obj: bpy.types.Object, tree: bpy.types.NodeTree) -> bpy.types.Mesh:
    """The mesh whose attributes a node group reads on an object."""
    holder = of(tree)
    return obj.data if holder is None else holder.data


def remove_group(tree: bpy.types.NodeTree) -> None:
    """Removes a node group and its holder from the file."""
    holder = of(tree)
    bpy.data.node_groups.remove(tree)
    if holder is not None and holder.users == 0 and marks.has(holder, marks.HOLDER):
        mesh = holder.data
        bpy.data.objects.remove(holder)
        if mesh.users == 0:
            bpy.data.meshes.remove(mesh)
