"""jounce.stitch_*: stitch groups from selected vertices, from vertex groups and from nearby vertices."""

import bpy
import numpy as np
from bpy.props import FloatProperty, IntProperty, StringProperty

from ..bridge.body import bodies, stitches, weight_maps
from ..bridge.rig import bone_transforms, meshes
from ..core.common.user_error import UserError
from ..core.mesh.stitches import nearest_pairs, pairs_within
from . import needs
from .operator import JounceOperator


class AtMost:
    """Makes no more stitches than are asked for."""

    most: IntProperty(
        name="Maximum Stitches", description="Largest number of new stitches", default=100, min=1, max=1000
    )


class WithinDistance:
    """Limits stitches to vertices near each other."""

    distance: FloatProperty(
        name="Distance",
        description="Largest distance of stitched vertices, in percent of the size of the meshes",
        default=2.0,
        min=0.0,
        max=100.0,
        soft_max=10.0,
        subtype="PERCENTAGE",
    )


class SeamOperator(AtMost, JounceOperator):
    """Makes a stitch group between the active mesh and another of its body, or within the mesh."""

    needs = (needs.within_body,)

    def run(self, context: bpy.types.Context) -> str:
        """Finds the pairs and adds the stitch group."""
        host, ends = self.ends(context)
        with bone_transforms.rest_position(ends, context.view_layer):
            pairs = self.pairs(*ends)
        if len(pairs) == 0:
            raise UserError("Nothing is near enough to stitch; raise Distance, or choose other vertices.")
        name = ends[0].name if ends[0] == ends[1] else f"{ends[0].name} - {ends[1].name}"
        stitches.add(host, name, ends, pairs)
        return f"{host.name}: {len(pairs)} stitches; build to apply them."

    def ends(self, context: bpy.types.Context) -> tuple[bpy.types.Object, stitches.Ends]:
        """The host, and the meshes at both ends."""
        host, active = needs.within_body(context), context.view_layer.objects.active
        chosen = [obj for obj in context.selected_objects if obj.type == "MESH" and obj != active]
        others = [obj for obj in chosen if bodies.host_of(obj) == host]
        if len(others) > 1:
            raise UserError("More than two meshes of the body are selected; select one or two.")
        ends = (active, others[0] if others else active)
        for obj in ends:
            meshes.bring_up_to_date(obj)
        return host, ends

    def pairs(self, one: bpy.types.Object, other: bpy.types.Object) -> np.ndarray:
        """The stitched vertices (s, 2) of the two meshes."""
        raise NotImplementedError

    def nearest(self, ends: stitches.Ends, chosen: tuple[np.ndarray, np.ndarray], reach: float) -> np.ndarray:
        """Pairs of the nearest chosen vertices of both ends."""
        points = [stitches.world_points(obj)[rows] for obj, rows in zip(ends, chosen, strict=True)]
        found = nearest_pairs(*points, reach, self.most)
        return np.stack([rows[column] for rows, column in zip(chosen, found.T, strict=True)], axis=1)


class JOUNCE_OT_stitch_selected(SeamOperator):
    """Stitch the selected vertices: each to the nearest of the other mesh, or in pairs"""

    bl_idname = "jounce.stitch_selected"
    bl_label = "Stitch Selected"
    bl_options = {"REGISTER", "UNDO"}

    def pairs(self, one: bpy.types.Object, other: bpy.types.Object) -> np.ndarray:
        """For two meshes the nearest vertices of each other, for one the two nearest vertices first."""
        chosen = tuple(np.flatnonzero(weight_maps.selected(obj)) for obj in (one, other))
        if one != other:
            return self.nearest((one, other), chosen, np.inf)
        if len(chosen[0]) < 2 or len(chosen[0]) % 2:
            raise UserError(f"{len(chosen[0])} vertices of {one.name} are selected; select pairs of them.")
        if len(chosen[0]) > 2 * self.most:
            raise UserError(
                f"{len(chosen[0])} vertices are selected, more than {self.most} pairs; select fewer."
            )
        return chosen[0][pairs_within(stitches.world_points(one)[chosen[0]])]


class JOUNCE_OT_stitch_groups(SeamOperator):
    """Stitch the vertices of one vertex group to the nearest of another"""

    bl_idname = "jounce.stitch_groups"
    bl_label = "Stitch Vertex Groups"
    bl_options = {"REGISTER", "UNDO"}

    group_a: StringProperty(name="Group", description="Vertex group of the active mesh")
    group_b: StringProperty(name="Other Group", description="Vertex group of the other mesh, or of the same")

    def pairs(self, one: bpy.types.Object, other: bpy.types.Object) -> np.ndarray:
        """Nearest vertices of both groups."""
        members = (stitches.members(one, self.group_a), stitches.members(other, self.group_b))
        return self.nearest((one, other), members, np.inf)

    def invoke(self, context: bpy.types.Context, _event: bpy.types.Event) -> set[str]:
        """Asks for the groups."""
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context: bpy.types.Context) -> None:
        """The groups to choose from."""
        active = context.object
        others = [obj for obj in context.selected_objects if obj != active and obj.type == "MESH"]
        self.layout.prop_search(self, "group_a", active, "vertex_groups")
        self.layout.prop_search(self, "group_b", others[0] if others else active, "vertex_groups")


class JOUNCE_OT_stitch_nearest(WithinDistance, SeamOperator):
    """Stitch the nearest vertices of two selected meshes of the body, or of loose parts of one mesh"""

    bl_idname = "jounce.stitch_nearest"
    bl_label = "Stitch Nearest"
    bl_options = {"REGISTER", "UNDO"}

    def pairs(self, one: bpy.types.Object, other: bpy.types.Object) -> np.ndarray:
        """Vertices within reach of each other."""
        reach = self.distance / 100.0 * stitches.extent([stitches.world_points(obj) for obj in (one, other)])
        if one != other:
            every = tuple(np.arange(len(stitches.world_points(obj))) for obj in (one, other))
            return self.nearest((one, other), every, reach)
        parts = stitches.loose_parts(one)
        if parts.max(initial=0) == 0:
            raise UserError(f"{one.name} has a single loose part; select another mesh of the body too.")
        largest = parts == np.argmax(np.bincount(parts))
        return self.nearest((one, one), (np.flatnonzero(largest), np.flatnonzero(~largest)), reach)


class JOUNCE_OT_stitch_remove(JounceOperator):
    """Remove the chosen stitch group"""

    bl_idname = "jounce.stitch_remove"
    bl_label = "Remove Stitch Group"
    bl_options = {"REGISTER", "UNDO"}
    needs = (needs.seam,)

    def run(self, context: bpy.types.Context) -> str:
        """Removes the active stitch group."""
        host = needs.seam(context)
        name = host.jounce.seams[host.jounce.seam_index].name
        stitches.remove(host, host.jounce.seam_index)
        return f"{host.name}: the stitch group {name} is removed; build to apply this."
