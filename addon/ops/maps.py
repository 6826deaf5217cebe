"""jounce.map_*: makes, fills and changes the vertex groups of maps."""

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty

from ..bridge.body import bodies, diagnosis, map_tools, muscles, weight_maps
from ..bridge.rig import armature_modifier, meshes
from ..core.common.user_error import UserError
from ..core.mesh.maps import Kind
from . import needs
from .build import then_seen
from .operator import JounceOperator

KINDS = (
    (Kind.STIFFNESS.value, "Stiffness", "0 softer, 0.5 unchanged, 1 stiffer"),
    (
        Kind.LEAK.value,
        "Momentum Leak",
        "1 lets momentum in as usual, 0 not at all. Only differences within one bone's region matter",
    ),
    (Kind.PIN.value, "Pin", "Above 0.5 the flesh stays exactly in its rigged place"),
    (Kind.STRENGTH.value, "Strength", "1 feels the rig's acceleration in full, 0 not at all"),
    (Kind.MUSCLE.value, "Muscle", "1 is muscle, which contracts in the final motion, 0 is none"),
)


RADIUS = FloatProperty(
    name="Radius",
    description="Radius of the ball, in percent of the size of the mesh",
    default=15.0,
    min=0.01,
    max=200.0,
    soft_max=100.0,
    subtype="PERCENTAGE",
)


def active_mesh(context: bpy.types.Context) -> tuple[bpy.types.Object, bpy.types.Object]:
    """The active mesh, or the host moved by the active armature, and the host of its body."""
    obj = needs.paintable(context)
    meshes.bring_up_to_date(obj)
    return obj, bodies.host_of(obj)


def selected_part(obj: bpy.types.Object) -> np.ndarray:
    """The selected vertices, (p,) 0 or 1."""
    chosen = weight_maps.selected(obj)
    if not chosen.any():
        raise UserError(f"No vertex of {obj.name} is selected; select some in Edit Mode first.")
    return chosen.astype(float)


def bones_part(obj: bpy.types.Object, warn: armature_modifier.Warn) -> np.ndarray:
    """Share (p,) in [0, 1] of the selected bones in each vertex."""
    deformer = armature_modifier.deformer(obj, warn)
    if deformer is None:
        raise UserError(f"{obj.name} has no armature, so no bones move it.")
    share = weight_maps.share_of_bones(obj, deformer.armature)
    if not share.any():
        raise UserError(
            f"No selected bone of {deformer.armature.name} moves {obj.name}; select some in Pose Mode first."
        )
    return share


def ball_part(obj: bpy.types.Object, context: bpy.types.Context, percent: float) -> np.ndarray:
    """Falloff (p,) of a sphere around the 3D cursor at each vertex; radius in percent of the size."""
    share = map_tools.around(obj, context, percent / 100.0)
    if not share.any():
        raise UserError(f"The 3D cursor is too far from {obj.name}; place it there or enlarge the radius.")
    return share


class MapOperator(JounceOperator):
    """Changes the map of one kind on the active mesh. Subclasses define the change."""

    needs = (needs.paintable,)

    kind: EnumProperty(name="Map", description="Meaning of the vertex group", items=KINDS)
    muscle: IntProperty(
        name="Muscle",
        description="Number of the muscle, for the map of a muscle: 0 is the first",
        default=0,
        min=0,
        max=muscles.MOST - 1,
        options={"HIDDEN"},
    )

    def run(self, context: bpy.types.Context) -> str:
        """Makes a missing group, and sets the new values."""
        obj, host = active_mesh(context)
        objects, which = bodies.members(host), (Kind(self.kind), self.muscle)
        values = self.changed(context, obj, weight_maps.values(host, objects, obj, *which))
        group = weight_maps.ensure(host, objects, obj, *which)
        if values is not None:
            weight_maps.fill(obj, group, values)
        diagnosis.renew(host, "clear_map", context)
        return f"{obj.name}: the vertex group {group.name} is its map; paint it; {then_seen(host)}."

    def changed(
        self, context: bpy.types.Context, obj: bpy.types.Object, before: np.ndarray
    ) -> np.ndarray | None:
        """The new values (p,) of the map; None for no change."""
        raise NotImplementedError


class UnchangedOperator(MapOperator):
    """Makes a missing group only; an existing one stays unchanged."""

    def changed(self, _context: bpy.types.Context, _obj: bpy.types.Object, _before: np.ndarray) -> None:
        """Nothing new."""
        return


class JOUNCE_OT_map_add(UnchangedOperator):
    """Make the vertex group of the map; nothing changes until you paint"""

    bl_idname = "jounce.map_add"
    bl_label = "Add Map"
    bl_options = {"REGISTER", "UNDO"}


class JOUNCE_OT_map_paint(UnchangedOperator):
    """Paint the map in Weight Paint Mode, with a new vertex group if there is none"""

    bl_idname = "jounce.map_paint"
    bl_label = "Paint Map"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.paintable_in_sight,)

    def run(self, context: bpy.types.Context) -> str:
        """Activates the group and enters Weight Paint Mode."""
        sentence = super().run(context)
        obj, host = active_mesh(context)
        if context.view_layer.objects.active != obj:
            bpy.ops.object.mode_set(mode="OBJECT")
            context.view_layer.objects.active = obj
        which = Kind(self.kind), self.muscle
        weight_maps.activate(obj, weight_maps.group_name(host, bodies.members(host), *which))
        bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
        return sentence


class ValueOperator(MapOperator):
    """Gives a part of the map one value. Subclasses define the part."""

    value: FloatProperty(
        name="Value", description="Weight of the map there, without unit", default=1.0, min=0.0, max=1.0
    )

    def changed(self, context: bpy.types.Context, obj: bpy.types.Object, before: np.ndarray) -> np.ndarray:
        """Blends to the value by each vertex's share in the part."""
        return before + self.part(context, obj) * (self.value - before)

    def part(self, context: bpy.types.Context, obj: bpy.types.Object) -> np.ndarray:
        """Share of each vertex in the part, (p,) in [0, 1]."""
        raise NotImplementedError


class JOUNCE_OT_map_from_selection(ValueOperator):
    """Give the vertices selected in Edit Mode a value in the map"""

    bl_idname = "jounce.map_from_selection"
    bl_label = "Map from Selection"
    bl_options = {"REGISTER", "UNDO"}

    def part(self, _context: bpy.types.Context, obj: bpy.types.Object) -> np.ndarray:
        """The selected vertices."""
        return selected_part(obj)


class JOUNCE_OT_map_from_bones(ValueOperator):
    """Give the vertices of the selected bones a value in the map, blended by the bones' weights"""

    bl_idname = "jounce.map_from_bones"
    bl_label = "Map from Bones"
    bl_options = {"REGISTER", "UNDO"}

    def part(self, _context: bpy.types.Context, obj: bpy.types.Object) -> np.ndarray:
        """Vertices moved by the selected bones."""
        return bones_part(obj, self.warn)


class JOUNCE_OT_map_from_sphere(ValueOperator):
    """Give a ball around the 3D cursor a value in a map, fading out towards its surface"""

    bl_idname = "jounce.map_from_sphere"
    bl_label = "Map from Sphere"
    bl_options = {"REGISTER", "UNDO"}

    radius: RADIUS

    def part(self, context: bpy.types.Context, obj: bpy.types.Object) -> np.ndarray:
        """Vertices around the 3D cursor in the present pose."""
        return ball_part(obj, context, self.radius)


class JOUNCE_OT_map_smooth(MapOperator):
    """Smooth a map along the edges of the mesh"""

    bl_idname = "jounce.map_smooth"
    bl_label = "Smooth Map"
    bl_options = {"REGISTER", "UNDO"}

    times: IntProperty(
        name="Times",
        description="Number of passes, each towards the mean weight of neighbouring vertices",
        default=4,
        min=1,
        max=1000,
        soft_max=50,
    )

    def changed(self, _context: bpy.types.Context, obj: bpy.types.Object, before: np.ndarray) -> np.ndarray:
        """The same map, smoother."""
        return map_tools.smoothed(obj, before, self.times)


class JOUNCE_OT_map_mirror(MapOperator):
    """Copy a map from one side of the mesh to the other, across the mesh's YZ plane"""

    bl_idname = "jounce.map_mirror"
    bl_label = "Mirror Map"
    bl_options = {"REGISTER", "UNDO"}

    from_negative: BoolProperty(
        name="From -X", description="Copy from the side of negative X to that of positive X", default=False
    )

    def changed(self, _context: bpy.types.Context, obj: bpy.types.Object, before: np.ndarray) -> np.ndarray:
        """The same map with its other side mirrored from the first."""
        return map_tools.mirrored(obj, before, self.from_negative)


class JOUNCE_OT_maps_copy(JounceOperator):
    """Copy all maps of the active body to the other selected bodies, to the nearest place on each"""

    bl_idname = "jounce.maps_copy"
    bl_label = "Copy Maps to Selected"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.other_bodies,)

    def run(self, context: bpy.types.Context) -> str:
        """Copies the groups and the range of stiffness."""
        source, targets = needs.active_body(context), needs.other_bodies(context)
        kinds = [kind for kind in Kind if weight_maps.has_begun(source, bodies.members(source), kind)]
        if not kinds:
            raise UserError(f"{source.name} has no maps.")
        for target in targets:
            for kind in kinds:
                map_tools.copy(source, target, kind)
            if Kind.STIFFNESS in kinds:
                target.jounce.take_stiffness_scale(source.jounce)
            if Kind.MUSCLE in kinds:
                target.jounce.muscle_stiffness = source.jounce.muscle_stiffness
            copy_more_muscles(source, target)
            diagnosis.renew(target, "clear_map", context)
        return f"{len(kinds)} map(s) copied to {', '.join(target.name for target in targets)}."


def copy_more_muscles(source: bpy.types.Object, target: bpy.types.Object) -> None:
    """Copies the maps of another body's further muscles, each to a new muscle."""
    for muscle in range(1, len(source.jounce.muscles)):
        if muscle == len(target.jounce.muscles):
            muscles.add(target)
        if weight_maps.has_begun(source, bodies.members(source), Kind.MUSCLE, muscle):
            map_tools.copy(source, target, Kind.MUSCLE, muscle)
        stiffness = source.jounce.muscles[muscle].muscle_stiffness
        target.jounce.muscles[muscle].muscle_stiffness = stiffness


class JOUNCE_OT_muscle_add(JounceOperator):
    """Make another muscle, with a separate map and contraction"""

    bl_idname = "jounce.muscle_add"
    bl_label = "Add Muscle"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.paintable,)

    def run(self, context: bpy.types.Context) -> str:
        """Adds the muscle and its vertex group."""
        obj, host = active_mesh(context)
        muscles.add(host)
        last = len(host.jounce.muscles) - 1
        group = weight_maps.ensure(host, bodies.members(host), obj, Kind.MUSCLE, last)
        return f"{host.name}: the vertex group {group.name} is the map of muscle {last + 1}; paint it."


class JOUNCE_OT_muscle_remove(JounceOperator):
    """Remove this muscle, with the keys of its contraction; the vertex group stays"""

    bl_idname = "jounce.muscle_remove"
    bl_label = "Remove Muscle"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.paintable, needs.more_muscles)

    muscle: IntProperty(
        name="Muscle",
        description="Number of the muscle: 1 is the second muscle",
        default=1,
        min=1,
        max=muscles.MOST - 1,
    )

    def run(self, context: bpy.types.Context) -> str:
        """Removes the muscle."""
        _, host = active_mesh(context)
        name = weight_maps.named(host, Kind.MUSCLE, self.muscle).muscle_group
        muscles.remove(host, self.muscle)
        return f"{host.name}: the muscle {name} is gone; its vertex group stays."
