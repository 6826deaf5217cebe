"""Stitch groups: related stitches with common settings."""

import bpy
from bpy.props import BoolProperty, CollectionProperty, FloatProperty, IntProperty, PointerProperty

from .animated import keyed_where_read
from .overrides import overridable


@overridable
class JouncePair(bpy.types.PropertyGroup):
    """A stitch of a stitch group: a vertex of each of the two meshes."""

    a: IntProperty(name="Vertex", description="Vertex of the stitch group's first mesh")
    b: IntProperty(name="Other Vertex", description="Vertex of the stitch group's second mesh")


@keyed_where_read
@overridable
class JounceSeam(bpy.types.PropertyGroup):
    """Stitches between two meshes of a body, or within one mesh."""

    use: BoolProperty(name="On", description="Use of the stitch group", default=True)
    mesh_a: PointerProperty(name="Mesh", description="The first mesh", type=bpy.types.Object)
    mesh_b: PointerProperty(name="Other Mesh", description="The second mesh", type=bpy.types.Object)
    pairs: CollectionProperty(
        name="Stitches", description="Joined vertices of the stitch group", type=JouncePair
    )
    stiffness: FloatProperty(
        name="Stiffness",
        description=(
            "Stiffness of each stitch, without unit: 1 holds firmly, 0.01 about as the flesh around. It "
            "grows with the body's size and stiffness"
        ),
        default=1.0,
        min=1e-5,
        max=1e4,
        soft_min=1e-3,
        soft_max=10.0,
        step=10,
        precision=3,
    )
    keep_gap: BoolProperty(
        name="Keep Gap",
        description="Keep the distance of the ends at rest; off, the ends are pulled into one place",
        default=True,
    )
    closed: FloatProperty(
        name="Closed",
        description=(
            "Share of the stiffness that holds in this frame: 1 sewn, 0 open, for zippers, wounds and "
            "tearing. May be animated, and acts without a build once the group is built to open"
        ),
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    radius: FloatProperty(
        name="Stitch Radius",
        description=(
            "Radius of a stitch's pull around either end, in percent of the body's size: the dent then "
            "stays the same at a finer Resolution. 0 pulls at points"
        ),
        default=0.0,
        min=0.0,
        max=50.0,
        soft_max=10.0,
        precision=2,
        subtype="PERCENTAGE",
    )


class StitchProps:
    """Settings of the host; a change needs a short build, except for keys of the closing."""

    seams: CollectionProperty(name="Stitch Groups", description="Stitch groups of the body", type=JounceSeam)
    seam_index: IntProperty(name="Stitch Group", description="The chosen stitch group")
