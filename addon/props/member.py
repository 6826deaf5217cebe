"""Body and binding of a mesh."""

import bpy
from bpy.props import BoolProperty, FloatVectorProperty, IntProperty, PointerProperty, StringProperty

from ..bridge.common import registry
from .refresh import refresh


def _is_mesh(_self: "MemberProps", other: bpy.types.Object) -> bool:
    return other.type == "MESH"


def _joined(self: "MemberProps", _context: bpy.types.Context) -> None:
    self.format = registry.FORMAT
    registry.JOINED.add(self.id_data.session_uid)
    registry.look_again()


class MemberProps:
    """Found on every mesh of a body."""

    is_host: BoolProperty(
        name="Host",
        description="This object carries the settings of a Jounce body",
        default=False,
        update=_joined,
    )
    host: PointerProperty(
        name="Host",
        description="The object that carries the settings of the body this mesh belongs to",
        type=bpy.types.Object,
        poll=_is_mesh,
        update=_joined,
    )
    format: IntProperty(name="Format", description="Version of the stored data", options={"HIDDEN"})
    bind_matrix: FloatVectorProperty(
        name="Bind Matrix",
        description="The object's world matrix at the last build, armatures at rest, row by row",
        size=16,
        options={"HIDDEN"},
    )
    armature_matrix: FloatVectorProperty(
        name="Armature Matrix",
        description="The world matrix of the object's armature at the last build, row by row",
        size=16,
        options={"HIDDEN"},
    )
    left_out: StringProperty(
        name="Left Out",
        description="Reason for a mesh without flesh of its own at the last build; empty for none",
        options={"HIDDEN"},
    )
    hidden_faces: StringProperty(
        name="Hidden Faces",
        description="The faces that no frame showed at the last build, packed; empty for none",
        options={"HIDDEN"},
    )
    following: StringProperty(
        name="Following",
        description="Share of following of each vertex at the last build, packed; empty for none",
        options={"HIDDEN"},
    )
    made_pin: StringProperty(
        name="Made Pin",
        description="The vertex group with the root that Add Jounce found; empty without one",
        options={"HIDDEN"},
    )
    made_pin_digest: StringProperty(
        name="Made Pin Weights",
        description="Hash of the weights that Add Jounce gave the root",
        options={"HIDDEN"},
    )
    wearer: PointerProperty(
        name="Wearer",
        description="The host of the body that wears this one as a piece of clothing",
        type=bpy.types.Object,
        poll=_is_mesh,
        update=_joined,
    )
    cut_from: PointerProperty(
        name="Cut From",
        description="The mesh whose loose part this one shows, made by Add Jounce",
        type=bpy.types.Object,
        poll=_is_mesh,
    )
    made_mask: StringProperty(
        name="Made Mask",
        description="Vertex group of loose parts that are shown as bodies of their own; empty without one",
        options={"HIDDEN"},
    )
    is_rigid: BoolProperty(
        name="Rigid Mesh",
        description="All of this mesh is hard, as armour is, and follows its bones; with Bone Core only",
        default=False,
        update=refresh,
    )
