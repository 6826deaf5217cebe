"""Geometry nodes that place leaves on points with the attributes `rotation` and `scale`, and move them.

There are two kinds. In the first each leaf is warped by the amplitudes of its own modes: the leaf has the
attributes `shape 0`, `turn 0` and so on; the mesh of the motion has points at the leaves' positions, with
`rotation`, `amplitude 0` and so on, frame by frame. In the second each leaf is an instance of one of many
poses: the points have the attributes `first pose` and `delay`, in frames.
"""

from __future__ import annotations

import bpy

Socket = bpy.types.NodeSocket
SHAPE, TURN, AMPLITUDE = "shape {}", "turn {}", "amplitude {}"
ROTATION, SCALE = "rotation", "scale"
FIRST, DELAY = "first pose", "delay"
# Smallest angle in radians, which avoids division by zero.
LEAST = 0.01


class Leaves:
    """A group of nodes; `self.tree` is for a modifier of the points."""

    def __init__(self) -> None:
        """Make an empty group."""
        self.tree = bpy.data.node_groups.new("Leaves", "GeometryNodeTree")
        self.tree.is_modifier = True
        for direction in ("INPUT", "OUTPUT"):
            self.tree.interface.new_socket("Geometry", in_out=direction, socket_type="NodeSocketGeometry")
        self._points = self._node("NodeGroupInput").outputs[0]

    def _finish(self, geometry: Socket) -> None:
        self.tree.links.new(geometry, self._node("NodeGroupOutput").inputs[0])

    def _time(self) -> Socket:
        return self._node("GeometryNodeInputSceneTime").outputs["Frame"]

    def _attribute(self, name: str, kind: str) -> Socket:
        return self._first(self._node("GeometryNodeInputNamedAttribute", data_type=kind, Name=name))

    def _math(self, operation: str, *values: Socket | float) -> Socket:
        return self._computed("ShaderNodeMath", operation, values)

    def _vector(self, operation: str, *values: object, **named: object) -> Socket:
        return self._computed("ShaderNodeVectorMath", operation, values, **named)

    def _computed(self, kind: str, operation: str, values: tuple[object, ...], **named: object) -> Socket:
        node = self._node(kind, operation=operation)
        for socket, value in zip(node.inputs, values, strict=False):
            self._put(socket, value)
        return self._fed(node, **named)

    def _node(self, kind: str, **given: object) -> bpy.types.Node:
        """A new node: arguments named like sockets set these, all others are set first as properties."""
        node = self.tree.nodes.new(kind)
        for name in [name for name in given if hasattr(node, name)]:
            setattr(node, name, given.pop(name))
        self._fed(node, **given)
        return node

    def _fed(self, node: bpy.types.Node, **values: object) -> Socket:
        for name, value in values.items():
            wanted = name.replace("_", " ")
            self._put(next(at for at in node.inputs if at.name == wanted and at.enabled), value)
        return self._first(node)

    def _put(self, socket: Socket, value: object) -> None:
        if isinstance(value, Socket):
            self.tree.links.new(value, socket)
        else:
            socket.default_value = value

    def _first(self, node: bpy.types.Node) -> Socket:
        return next((socket for socket in node.outputs if socket.enabled), None)

    def _sampled(
        self, motion: Socket, values: Socket, kinds: tuple[str, str], count: Socket, frames: int
    ) -> Socket:
        """Values of the motion at each point at the scene's time, interpolated between frames.

        kinds: types of the values as attributes, and for their interpolation.
        """
        time = self._time()
        place = self._first(self._node("GeometryNodeInputIndex"))
        first = self._math("FLOORED_MODULO", self._math("FLOOR", time), frames)
        both = []
        for frame in (first, self._math("FLOORED_MODULO", self._math("ADD", first, 1.0), frames)):
            sample = self._node("GeometryNodeSampleIndex", data_type=kinds[0], domain="POINT")
            index = self._math("MULTIPLY_ADD", frame, count, place)
            both.append(self._fed(sample, Geometry=motion, Value=values, Index=index))
        mixed = self._node("ShaderNodeMix", data_type=kinds[1])
        return self._fed(mixed, Factor=self._math("FRACT", time), A=both[0], B=both[1])

    def _moved(self, points: Socket, motion: Socket, count: Socket, frames: int) -> Socket:
        """Points at their positions in the motion."""
        places = self._first(self._node("GeometryNodeInputPosition"))
        place = self._sampled(motion, places, ("FLOAT_VECTOR", "VECTOR"), count, frames)
        return self._first(self._node("GeometryNodeSetPosition", Geometry=points, Position=place))

    def _counted(self, points: Socket) -> Socket:
        return self._first(self._node("GeometryNodeAttributeDomainSize", component="MESH", Geometry=points))

    def _object(self, holder: bpy.types.Object) -> Socket:
        return self._node("GeometryNodeObjectInfo", Object=holder).outputs["Geometry"]


class Carried(Leaves):
    """Points moved to their positions in a mesh that holds the points of all frames, frame by frame."""

    def __init__(self, motion: bpy.types.Object, frames: int) -> None:
        """Make the nodes."""
        super().__init__()
        self._finish(self._moved(self._points, self._object(motion), self._counted(self._points), frames))


class Picked(Leaves):
    """Leaves as poses of a collection, in which frames are ordered by name, loop after loop."""

    def __init__(self, poses: bpy.types.Collection, frames: int) -> None:
        """Make the nodes."""
        super().__init__()
        late = self._math("SUBTRACT", self._time(), self._attribute(DELAY, "FLOAT"))
        frame = self._math("FLOORED_MODULO", self._math("FLOOR", late), frames)
        pose = self._math("ADD", frame, self._attribute(FIRST, "FLOAT"))
        info = self._node("GeometryNodeCollectionInfo", Collection=poses)
        held = self._fed(info, Separate_Children=True, Reset_Children=True)
        put = self._node("GeometryNodeInstanceOnPoints", Points=self._points, Instance=held)
        turn, scale = self._attribute(ROTATION, "QUATERNION"), self._attribute(SCALE, "FLOAT")
        leaves = self._fed(put, Pick_Instance=True, Instance_Index=pose, Rotation=turn, Scale=scale)
        self._finish(leaves)


class Swaying(Leaves):
    """Leaves warped by their own amplitudes, from a leaf, its motion, and the numbers of modes and frames."""

    def __init__(self, leaf: bpy.types.Object, motion: bpy.types.Object, modes: int, frames: int) -> None:
        """Make the nodes."""
        super().__init__()
        held, count = self._object(motion), self._counted(self._points)
        points = self._moved(self._points, held, count, frames)
        kept = [(ROTATION, "QUATERNION", "ROTATION")]
        kept += [(AMPLITUDE.format(mode), "FLOAT", "FLOAT") for mode in range(modes)]
        for name, kind, mix in kept:
            values = self._sampled(held, self._attribute(name, kind), (kind, mix), count, frames)
            stored = self._node("GeometryNodeStoreNamedAttribute", data_type=kind, domain="POINT")
            points = self._fed(stored, Geometry=points, Name=name, Value=values)
        turn, scale = self._attribute(ROTATION, "QUATERNION"), self._attribute(SCALE, "FLOAT")
        put = self._node("GeometryNodeInstanceOnPoints")
        leaves = self._fed(put, Points=points, Instance=self._object(leaf), Rotation=turn, Scale=scale)
        single = self._first(self._node("GeometryNodeRealizeInstances", Geometry=leaves))
        turned = self._node("FunctionNodeRotateVector", Vector=self._warped(modes), Rotation=turn)
        offset = self._vector("SCALE", self._first(turned), Scale=scale)
        self._finish(self._first(self._node("GeometryNodeSetPosition", Geometry=single, Offset=offset)))

    def _warped(self, modes: int) -> Socket:
        """`u + (1 - cos t) / t^2 w x u + (t - sin t) / t^3 w x (w x u)`: u sums shapes, w turns, t = |w|."""
        u, w = (self._summed(name, modes) for name in (SHAPE, TURN))
        t = self._math("MAXIMUM", self._vector("LENGTH", w), LEAST)
        sine = self._math("DIVIDE", self._math("SINE", self._math("MULTIPLY", t, 0.5)), t)
        once = self._math("MULTIPLY", self._math("MULTIPLY", sine, sine), 2.0)
        left = self._math("SUBTRACT", 1.0, self._math("DIVIDE", self._math("SINE", t), t))
        twice = self._math("DIVIDE", left, self._math("MULTIPLY", t, t))
        across = self._vector("CROSS_PRODUCT", w, u)
        further = self._vector("CROSS_PRODUCT", w, across)
        return self._vector("MULTIPLY_ADD", further, twice, self._vector("MULTIPLY_ADD", across, once, u))

    def _summed(self, name: str, modes: int) -> Socket:
        """Sum over modes of amplitude times attribute."""
        total: Socket | tuple[float, float, float] = (0.0, 0.0, 0.0)
        for mode in range(modes):
            field = self._attribute(name.format(mode), "FLOAT_VECTOR")
            total = self._vector(
                "MULTIPLY_ADD", field, self._attribute(AMPLITUDE.format(mode), "FLOAT"), total
            )
        return total
