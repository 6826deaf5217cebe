"""Geometry Nodes groups that move a mesh, and their modifiers.

Names of additions to a file start with "Jounce", names of additions to a mesh with "jounce: ".
"""

from itertools import chain, count

import bpy
import numpy as np

PREFIX = "jounce: "
COLUMN = 200.0
HOLDER = "Holder"


class Group:
    """A new group that offsets the points of a mesh; nodes are laid out in columns."""

    def __init__(self, name: str) -> None:
        # Without the modifier flag, to hide the group from Blender's menus and search: it fits one mesh only.
        self.tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
        for direction in ("INPUT", "OUTPUT"):
            self.tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")

    def node(self, kind: str, column: float, row: float) -> bpy.types.Node:
        """A new node at a place."""
        node = self.tree.nodes.new(kind)
        node.location = (COLUMN * column, row)
        return node

    def link(self, source: bpy.types.NodeSocket, target: bpy.types.NodeSocket) -> None:
        """Connects an output socket to an input socket."""
        self.tree.links.new(source, target)

    def attribute(self, name: str, kind: str, column: float, row: float) -> bpy.types.NodeSocket:
        """The values of an attribute of the mesh, such as 'FLOAT_VECTOR'."""
        node = self.node("GeometryNodeInputNamedAttribute", column, row)
        node.data_type = kind
        node.inputs["Name"].default_value = name
        return node.outputs["Attribute"]

    def sampled(
        self, values: bpy.types.NodeSocket, holder: bpy.types.Object, column: float
    ) -> bpy.types.NodeSocket:
        """The vectors of a field at the points of another object, by index."""
        info = self.node("GeometryNodeObjectInfo", column, -500.0)
        info.name = HOLDER
        info.inputs["Object"].default_value = holder
        sample = self.node("GeometryNodeSampleIndex", column + 1.0, -400.0)
        sample.data_type = "FLOAT_VECTOR"
        self.link(info.outputs["Geometry"], sample.inputs["Geometry"])
        self.link(
            values, next(socket for socket in sample.inputs if socket.name == "Value" and socket.enabled)
        )
        self.link(self.node("GeometryNodeInputIndex", column, -700.0).outputs[0], sample.inputs["Index"])
        return next(socket for socket in sample.outputs if socket.enabled)

    def to_object_space(self, offsets: bpy.types.NodeSocket, column: float) -> bpy.types.NodeSocket:
        """World-space offsets converted to the space of the group's object."""
        own = self.node("GeometryNodeSelfObject", column - 2.0, -200.0)
        info = self.node("GeometryNodeObjectInfo", column - 1.0, -200.0)
        inverse = self.node("FunctionNodeInvertMatrix", column, -200.0)
        turned = self.node("FunctionNodeTransformDirection", column + 1.0, 0.0)
        self.link(own.outputs[0], info.inputs["Object"])
        self.link(info.outputs["Transform"], inverse.inputs[0])
        self.link(offsets, turned.inputs[0])
        self.link(inverse.outputs[0], turned.inputs[1])
        return turned.outputs[0]

    def finish(self, offsets: bpy.types.NodeSocket, column: float, used_up: list[str]) -> None:
        """Moves the points by offsets in the object's space, and keeps the used attributes to itself.

        Without that every later modifier and every exporter would take the attributes along.
        """
        moved = self.node("GeometryNodeSetPosition", column, 200.0)
        self.link(self.node("NodeGroupInput", column - 1.0, 200.0).outputs[0], moved.inputs["Geometry"])
        self.link(offsets, moved.inputs["Offset"])
        geometry = moved.outputs[0]
        for name in used_up:
            column += 1.0
            removed = self.node("GeometryNodeRemoveAttribute", column, 200.0)
            removed.inputs["Name"].default_value = name
            self.link(geometry, removed.inputs["Geometry"])
            geometry = removed.outputs[0]
        self.link(geometry, self.node("NodeGroupOutput", column + 1.0, 200.0).inputs[0])


def holder_node(tree: bpy.types.NodeTree) -> bpy.types.Node | None:
    """The node of a group for the sampled object, None without one."""
    return tree.nodes.get(HOLDER)


def set_attribute(mesh: bpy.types.Mesh, name: str, kind: str, values: np.ndarray) -> None:
    """Sets an attribute at all vertices, FLOAT (p,) or FLOAT_VECTOR (p, 3); creates a missing one."""
    active = mesh.attributes.active_index
    attribute = mesh.attributes.get(name) or mesh.attributes.new(name, kind, "POINT")
    field = "vector" if kind == "FLOAT_VECTOR" else "value"
    attribute.data.foreach_set(field, np.ascontiguousarray(values, np.float32).ravel())
    mesh.attributes.active_index = active


def unused_name(mesh: bpy.types.Mesh, name: str) -> str:
    """A free attribute name on a mesh, with a number if the artist uses the plain name."""
    names = chain([name], (f"{name}.{number:03}" for number in count(1)))
    return next(name for name in names if name not in mesh.attributes)


def remove_attributes(mesh: bpy.types.Mesh, names: list[str]) -> None:
    """Removes the existing ones of these attributes from a mesh."""
    active = mesh.attributes.active_index
    for name in names:
        if name in mesh.attributes:
            mesh.attributes.remove(mesh.attributes[name])
    mesh.attributes.active_index = active
