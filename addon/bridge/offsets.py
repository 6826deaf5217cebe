"""Shows displacements on meshes: a point attribute, and a modifier that adds it right after the armature.

In renders the modifier does nothing: they show a bake.
"""

import bpy
import numpy as np

from . import nodes, stack

ATTRIBUTE = "jounce"
GROUP = f"{stack.NAME} Preview"


def add(obj: bpy.types.Object) -> None:
    """Adds attribute and modifier where they are missing."""
    if ATTRIBUTE not in obj.data.attributes:
        nothing = np.zeros((len(obj.data.vertices), 3), np.float32)
        nodes.set_attribute(obj.data, ATTRIBUTE, "FLOAT_VECTOR", nothing)
    if modifier_of(obj) is None:
        modifier = stack.insert(obj, "NODES")
        modifier.node_group = group()
        modifier.show_render = False


def is_shown(obj: bpy.types.Object) -> bool:
    """Whether both are there."""
    return ATTRIBUTE in obj.data.attributes and modifier_of(obj) is not None


def modifier_of(obj: bpy.types.Object) -> bpy.types.Modifier | None:
    """The modifier that shows a preview, None without one."""
    ours = (m for m in obj.modifiers if m.type == "NODES" and m.node_group and is_group(m.node_group))
    return next(ours, None)


def is_group(tree: bpy.types.NodeTree) -> bool:
    """Whether a node group is the one of previews, or a copy of it that came from another file."""
    return tree.name.startswith(GROUP)


def group() -> bpy.types.NodeTree:
    """The node group that adds the attribute, an offset in world space, to the positions."""
    tree = bpy.data.node_groups.get(GROUP)
    if tree is None or tree.library is not None:
        made = nodes.Group(GROUP)
        offsets = made.attribute(ATTRIBUTE, "FLOAT_VECTOR", 2.0, 0.0)
        made.finish(made.to_object_space(offsets, 2.0), 4.0, [ATTRIBUTE])
        tree = made.tree
    return tree


def remove(obj: bpy.types.Object) -> None:
    """Takes both away again, and the group with the last mesh that used it."""
    modifier = modifier_of(obj)
    if modifier is not None:
        tree = modifier.node_group
        stack.remove(obj, modifier)
        if tree.users == 0:
            bpy.data.node_groups.remove(tree)
    nodes.remove_attributes(obj.data, [ATTRIBUTE])


def write(obj: bpy.types.Object, offsets: np.ndarray) -> bool:
    """Writes world offsets (p, 3) f32 in Blender units; False where the mesh cannot take them now."""
    attribute = obj.data.attributes.get(ATTRIBUTE)
    if obj.mode == "EDIT" or attribute is None or len(attribute.data) != len(offsets):
        return False
    attribute.data.foreach_set("vector", offsets.ravel())
    obj.data.update_tag()
    return True
