"""The exact bake: a node group that displaces a mesh by the modes' weights and animated transforms.

    position += M_obj(t)^-1 sum_k W_k Z_k [Y; 1]

Y and the W_k are attributes of the mesh, Z_k is the matrix of a node with twelve animated numbers, M_obj the
object's world matrix. All meshes of a body share the group: a frame costs 12 numbers per mode. A linked mesh
has a separate group, which reads the attributes of its holder. The numbers are sampled F-curves of the
group's own action: linear between frames, a fifth of the size of keys.
"""

import json
from functools import partial

import bpy
import numpy as np

from ...core.bake.prepared import Preparation, Prepared
from ...core.bake.skinning import SkinningTable, skinning_table
from ...core.flesh.settings import BakeSettings, Target
from ...core.stepping.motion import Motion
from ..body.bodies import BodyScene
from ..common import compat, frames, linked_mesh_proxy, marks, nodes, registry, units
from ..keys import animation
from ..rig import modifier_stack

MATRIX = "Mode {}"
# Custom property of a group: names of the attributes that the group reads and owns.
ATTRIBUTES = "jounce_attributes"


def prepare(
    scene: BodyScene, body: object, motion: Motion, settings: BakeSettings, context: bpy.types.Context
) -> Preparation:
    """Makes the table of the motion; nothing changes before the writing."""
    table = yield from skinning_table(body, scene.surface, motion)
    scale = units.metres_per_unit(context.scene)
    count = table.transforms.shape[1]
    times = frames.times(settings.frames, context.scene)
    return Prepared(table.error, f"{count} modes", partial(write, scene, table, times, scale))


def write(scene: BodyScene, table: SkinningTable, times: np.ndarray, scale: float) -> None:
    """Gives the meshes their attributes and the modifier."""
    transforms = units.transforms_in_units(table.transforms, scale)
    points = units.points_in_units(table.points, scale)
    shared: bpy.types.NodeTree | None = None
    names = unused_attributes(scene.objects, transforms.shape[1])
    for obj, part in zip(scene.objects, scene.surface.parts, strict=True):
        holder = linked_mesh_proxy.new(obj)
        tree = shared if holder is None else None
        if tree is None:
            owner = scene.host if holder is None else obj
            tree = group(f"{modifier_stack.NAME} Bake {owner.name}", names, holder)
            animate(tree, transforms, times)
            shared = tree if holder is None else shared
        mesh = linked_mesh_proxy.mesh_of(obj, tree)
        nodes.set_attribute(mesh, names[0], "FLOAT_VECTOR", points[part.points])
        for name, weights in zip(names[1:], table.weights, strict=True):
            nodes.set_attribute(mesh, name, "FLOAT", part.own(weights[part.points]))
        obj.jounce.bake_group = tree
        obj.jounce.bake_target = Target.SKINNING_NODES.value
        modifier_stack.insert_bake(obj, "NODES").node_group = tree
        mesh.update()


def unused_attributes(objects: tuple[bpy.types.Object, ...], count: int) -> list[str]:
    """Free attribute names on these meshes: for the point, and for the weight of each mode."""
    taken = {name for obj in objects for name in obj.data.attributes.keys()}  # noqa: SIM118
    beginnings = (nodes.PREFIX, *(f"{nodes.PREFIX}{number} " for number in range(2, len(taken) + 3)))
    families = ([f"{b}point", *(f"{b}weight {mode + 1}" for mode in range(count))] for b in beginnings)
    return next(names for names in families if taken.isdisjoint(names))


def group(name: str, names: list[str], holder: bpy.types.Object | None) -> bpy.types.NodeTree:
    """The group for attributes of these names; each mode has a row of nodes.

    holder: of a mesh of another file.
    """
    count = len(names) - 1
    made = nodes.Group(name)
    marks.put(made.tree, marks.BAKE)
    made.tree[ATTRIBUTES] = json.dumps(names)
    # Blender looks animated nodes up by name from the first node on, at every frame: these come first.
    matrices = [made.node("FunctionNodeCombineMatrix", 0.0, -250.0 * (mode + 1)) for mode in range(count)]
    point = made.attribute(names[0], "FLOAT_VECTOR", 0.0, 0.0)
    total = None
    for mode, matrix in enumerate(matrices):
        row = -250.0 * (mode + 1)
        matrix.name = MATRIX.format(mode + 1)
        matrix.hide = True
        moved = made.node("FunctionNodeTransformPoint", 1.0, row)
        weighted = made.node("ShaderNodeVectorMath", 2.0, row)
        weighted.operation = "MULTIPLY_ADD"
        made.link(point, moved.inputs[0])
        made.link(matrix.outputs[0], moved.inputs[1])
        made.link(moved.outputs[0], weighted.inputs[0])
        made.link(made.attribute(names[mode + 1], "FLOAT", 1.0, row - 100.0), weighted.inputs[1])
        if total is not None:
            made.link(total, weighted.inputs[2])
        total = weighted.outputs[0]
    if holder is not None:
        total = made.sampled(total, holder, 3.0)
    made.finish(made.to_object_space(total, 7.0), 9.0, names if holder is None else [])
    return made.tree


def attributes_of(tree: bpy.types.NodeTree | None) -> list[str]:
    """The names of the attributes owned by a group."""
    return [] if tree is None else json.loads(tree.get(ATTRIBUTES, "[]"))


def animate(tree: bpy.types.NodeTree, transforms: np.ndarray, times: np.ndarray) -> None:
    """Plays transforms (f, m, 3, 4) in the group's own action. A Combine Matrix node counts columns first.

    times: (f,). Whole ones become samples, which take less room than keys.
    """
    action = bpy.data.actions.new(tree.name)
    marks.put(action, marks.BAKE)
    fcurves = compat.new_fcurves(action, tree)
    are_whole = bool((times == times.astype(int)).all())
    for mode in range(transforms.shape[1]):
        for column in range(4):
            for row in range(3):
                place = f'nodes["{MATRIX.format(mode + 1)}"].inputs[{4 * column + row}]'
                fcurve = fcurves.new(f"{place}.default_value")
                animation.write_fcurve(fcurve, times, transforms[:, mode, row, column])
                if are_whole:
                    fcurve.convert_to_samples(int(times[0]), int(times[-1]) + 1)
    data = tree.animation_data_create()
    data.action = action
    compat.use_slot(data, action)


def free(obj: bpy.types.Object) -> None:
    """Removes modifier, attributes and group; a group in use by a copy of the object stays."""
    tree = obj.jounce.bake_group
    if tree is None:
        return
    modifier = modifier_stack.bake_modifier(obj)
    if modifier is not None:
        modifier_stack.remove(obj, modifier)
    obj.jounce.property_unset("bake_group")
    if tree.library is not None:
        return
    shared = any(other.data == obj.data and other.jounce.bake_group == tree for other in registry.meshes())
    if not shared and not linked_mesh_proxy.is_foreign(obj.data):
        nodes.remove_attributes(obj.data, attributes_of(tree))
    if tree.users == 0:
        data = tree.animation_data
        action = None if data is None else data.action
        linked_mesh_proxy.remove_group(tree)
        animation.remove_unused(action)
