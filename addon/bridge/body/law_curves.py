"""The drawn curve of a body's elastic law.

Blender keeps such curves in brushes and nodes only. The curve is in a node of the body's own node group,
which is saved, copied, appended and undone with the host, and has no other users.
"""

import bpy

from ...core.flesh import drawn_law
from ..common import marks, registry
from ..rig import modifier_stack

# Range of stresses in the widget, in the same unit as strain.
LOWEST, HIGHEST = -2.0, 2.0
KIND = "ShaderNodeFloatCurve"


def holds_curve(_state: object, tree: bpy.types.NodeTree) -> bool:
    """True if a node group holds the curve of a law."""
    return marks.has(tree, marks.LAW)


def node(tree: bpy.types.NodeTree | None) -> bpy.types.Node | None:
    """The node with the curve of a law, None without one."""
    nodes = () if tree is None else tree.nodes
    return next((node for node in nodes if node.bl_idname == KIND), None)


def samples(tree: bpy.types.NodeTree | None) -> drawn_law.Curve:
    """The samples of the curve, a straight line without a curve."""
    holder = node(tree)
    if holder is None:
        return drawn_law.LINE
    mapping = holder.mapping
    mapping.initialize()
    curve = mapping.curves[0]
    return tuple(mapping.evaluate(curve, float(stretch)) for stretch in drawn_law.STRETCHES)


def straighten(host: bpy.types.Object) -> None:
    """Gives a body its own curve with a straight line."""
    before = host.jounce.law_curve
    tree = bpy.data.node_groups.new(f"{modifier_stack.NAME} Law {host.name}", "ShaderNodeTree")
    marks.put(tree, marks.LAW)
    mapping = tree.nodes.new(KIND).mapping
    # Each end is held by the other.
    mapping.clip_max_x, mapping.clip_max_y = drawn_law.MOST, HIGHEST
    mapping.clip_min_x, mapping.clip_min_y = drawn_law.LEAST, LOWEST
    mapping.extend = "EXTRAPOLATED"
    for point, stretch in zip(mapping.curves[0].points, (drawn_law.LEAST, drawn_law.MOST), strict=True):
        point.location = stretch, stretch - 1.0
    mapping.update()
    mapping.reset_view()
    host.jounce.law_curve = tree
    remove_unused(before)


def points(tree: bpy.types.NodeTree | None) -> list[list[float | str]]:
    """The points of the curve, each x, y and the kind of its handle; none without a curve."""
    holder = node(tree)
    if holder is None:
        return []
    return [[*point.location, point.handle_type] for point in holder.mapping.curves[0].points]


def draw(host: bpy.types.Object, points: list[list[float | str]]) -> None:
    """Gives a body a curve with these points, or removes the curve without any."""
    if not points:
        forget(host)
        return
    straighten(host)
    mapping = node(host.jounce.law_curve).mapping
    curve = mapping.curves[0]
    while len(curve.points) < len(points):
        curve.points.new(*points[len(curve.points)][:2])
    for point, (x, y, kind) in zip(curve.points, points, strict=True):
        point.location, point.handle_type = (x, y), kind
    mapping.update()


def part(obj: bpy.types.Object) -> None:
    """Gives a body a copy of a curve that an older body also uses, after copying or redo."""
    tree = held(obj)
    if tree is None or tree.library is not None or tree.users < 2:
        return
    older = (other for other in registry.meshes() if other.session_uid < obj.session_uid)
    if any(held(other) == tree for other in older):
        obj.jounce.law_curve = tree.copy()


def held(obj: bpy.types.Object) -> bpy.types.NodeTree | None:
    """The node group of a mesh. Reading an unset pointer would write to the mesh."""
    return obj.jounce.law_curve if obj.jounce.is_property_set("law_curve") else None


def forget(host: bpy.types.Object) -> None:
    """Takes the curve of a body away."""
    tree = held(host)
    host.jounce.property_unset("law_curve")
    remove_unused(tree)


def remove_unused(tree: bpy.types.NodeTree | None) -> None:
    """Removes an unused curve from the file."""
    if tree is not None and tree.library is None and tree.users == 0 and marks.has(tree, marks.LAW):
        bpy.data.node_groups.remove(tree)
