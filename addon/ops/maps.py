"""jounce.map_add, map_from_selection and map_from_bones: vertex groups that say how the flesh differs."""

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty

from ..bridge import bodies, deformers, maps, meshes
from ..core.maps import Kind
from ..core.refusal import Refusal
from .operator import JounceOperator

KINDS = (
    (Kind.STIFFNESS.value, "Stiffness", "0 soft, 1 stiff"),
    (
        Kind.LEAK.value,
        "Momentum Leak",
        "1 lets momentum in as usual, 0 not at all. Only differences within one bone's region matter",
    ),
    (Kind.PIN.value, "Pin", "Above 0.5 the flesh stays exactly where the rig puts it"),
    (Kind.STRENGTH.value, "Strength", "1 feels the rig's acceleration in full, 0 not at all"),
)


class MapOperator(JounceOperator):
    """Works on the map of one kind on the active mesh. Subclasses fill it."""

    kind: EnumProperty(name="Map", description="What the vertex group says", items=KINDS)

    def run(self, context: bpy.types.Context) -> str:
        """Makes the group where there is none, and fills it."""
        obj = context.view_layer.objects.active
        host = bodies.host_of(obj) if obj is not None else None
        if host is None:
            raise Refusal("The active object has no Jounce; select a mesh and use Add Jounce first.")
        if obj.type != "MESH" or obj.mode == "EDIT":
            raise Refusal(f"{obj.name} is in Edit Mode; leave it first, so that its vertices are up to date.")
        kind = Kind(self.kind)
        values = self.values(obj)
        group = maps.ensure(host, obj, kind)
        if values is not None:
            chosen, value = values
            before = meshes.group_weights(obj)[:, group.index]
            maps.fill(obj, group, before + chosen * (value - before))
        return f"{obj.name}: the vertex group {group.name} is its map; paint it, then build."

    def values(self, obj: bpy.types.Object) -> tuple[np.ndarray, float] | None:
        """Where the map gets the value, (p,) in [0, 1], and the value; None to leave it as it is."""
        raise NotImplementedError


class JOUNCE_OT_map_add(MapOperator):
    """Make the vertex group of a map, which changes nothing until it is painted"""

    bl_idname = "jounce.map_add"
    bl_label = "Add Map"
    bl_options = {"REGISTER", "UNDO"}

    def values(self, obj: bpy.types.Object) -> None:
        """Leaves a group that is there as it is."""
        return


class ValueOperator(MapOperator):
    """Gives a part of the map one value."""

    value: FloatProperty(
        name="Value", description="Weight the map gets there, without unit", default=1.0, min=0.0, max=1.0
    )


class JOUNCE_OT_map_from_selection(ValueOperator):
    """Give the vertices that were selected in Edit Mode a value in a map"""

    bl_idname = "jounce.map_from_selection"
    bl_label = "Map from Selection"
    bl_options = {"REGISTER", "UNDO"}

    def values(self, obj: bpy.types.Object) -> tuple[np.ndarray, float]:
        """The selected vertices."""
        chosen = maps.selected(obj)
        if not chosen.any():
            raise Refusal(f"No vertex of {obj.name} is selected; select some in Edit Mode first.")
        return chosen.astype(float), self.value


class JOUNCE_OT_map_from_bones(ValueOperator):
    """Give what the selected bones move a value in a map, blended as their weights are"""

    bl_idname = "jounce.map_from_bones"
    bl_label = "Map from Bones"
    bl_options = {"REGISTER", "UNDO"}

    def values(self, obj: bpy.types.Object) -> tuple[np.ndarray, float]:
        """The share that the selected bones have in each vertex."""
        deformer = deformers.deformer(obj, self.warn)
        if deformer is None:
            raise Refusal(f"{obj.name} has no armature, so no bones move it.")
        share = maps.share_of_bones(obj, deformer.armature)
        if not share.any():
            raise Refusal(
                f"No selected bone of {deformer.armature.name} moves {obj.name}; "
                "select some in Pose Mode first."
            )
        return share, self.value
