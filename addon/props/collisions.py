"""Collision settings of the flesh."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty

from ..core.body.colliders import Kind
from .overrides import CHANGES
from .refresh import refreshing

SHAPES = (
    (
        Kind.AUTOMATIC.value,
        "Automatic",
        "By its look: a flat mesh is a plane, one with the corners of a box a box, a ball a ball",
    ),
    (Kind.PLANE.value, "Plane", "Everything behind a plane, without end, such as the ground"),
    (Kind.SPHERE.value, "Sphere", "A ball of the object's size"),
    (Kind.CAPSULE.value, "Capsule", "A rod with round ends along the longest side of the object"),
    (Kind.BOX.value, "Box", "The object's bounding box"),
    (Kind.MESH.value, "Mesh", "The volume of the mesh, after its modifiers"),
)


@refreshing
class CollisionProps:
    """Settings of the host; changes need no build."""

    use_collisions: BoolProperty(
        name="Collisions",
        description="Keep the flesh of the Final motion out of other objects",
        default=False,
    )
    collision_collection: PointerProperty(
        name="Collision Collection",
        description="The flesh stays outside of the objects in this collection",
        type=bpy.types.Collection,
    )
    self_collision: BoolProperty(
        name="Self Collision",
        description=(
            "Keep the flesh of the Final motion out of the character's own skin: thighs out of each other, "
            "arms out of the belly. Joints, and skin that overlaps at rest, pass through"
        ),
        default=False,
    )
    collision_friction: FloatProperty(
        name="Friction",
        description="Friction of the flesh on other objects, without unit: 0 is ice, 1 is rubber",
        default=0.5,
        min=0.0,
        max=1000.0,
        soft_max=2.0,
        step=5,
    )


def refresh_object(obj: bpy.types.Object, _context: bpy.types.Context) -> None:
    """Has the object looked at again."""
    obj.update_tag()


SHAPE = EnumProperty(
    name="Collision Shape",
    description="Solid shape of this object for the flesh",
    items=SHAPES,
    options=set(),
    override=CHANGES,
    update=refresh_object,
)
OF_BONE = BoolProperty(
    name="Of Bone",
    description=(
        "A capsule of its bone: flesh of this bone and of the adjacent ones passes through, and the size "
        "stays the same at any scale of the bone"
    ),
    default=False,
    options=set(),
    override=CHANGES,
    update=refresh_object,
)
KEEPS_SIZE = BoolProperty(
    name="Keep Size",
    description="Collide with it at the size of the first frame, at any later scale",
    default=False,
    options=set(),
    override=CHANGES,
    update=refresh_object,
)
RESOLUTION = IntProperty(
    name="Collision Resolution",
    description="Cells along the longest side of the mesh. Details and walls thinner than a cell are lost",
    default=64,
    min=8,
    max=128,
    options=set(),
    override=CHANGES,
    update=refresh_object,
)
