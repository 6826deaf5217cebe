"""Settings of a bone in its pose for its flesh, and hard materials."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..core.rig.bone_core import Role
from .overrides import CHANGES


def refresh(bone: bpy.types.PoseBone, _context: bpy.types.Context) -> None:
    """Has the armature looked at again: previewed bodies are then built anew."""
    bone.id_data.data.update_tag()


LEAK = FloatProperty(
    name="Momentum Leak",
    description=(
        "Share of this bone's momentum felt by its flesh, 1 as usual, 0 none; multiplied with the map, "
        "blended by the weights. Without unit. Hold Alt to set it on all selected bones"
    ),
    default=1.0,
    min=0.0,
    max=1.0,
    subtype="FACTOR",
    options=set(),
    override=CHANGES,
    update=refresh,
)

ROLES = (
    (Role.AUTOMATIC.value, "Automatic", "By the bone's part of the body, found by chain, shape and name"),
    (Role.FLESH.value, "Flesh", "Thick flesh around the bone moves, thin flesh follows it"),
    (Role.RIGID.value, "Rigid", "All of its flesh follows the bone, as a hand or a helmet does"),
    (
        Role.FREE.value,
        "Free",
        "Even thin flesh, or flesh close to the bone, does not follow it: for an ear",
    ),
)

ROLE = EnumProperty(
    name="Role",
    description=(
        "Behaviour of this bone's flesh in a body with a bone core. Hold Alt to set it on all selected bones"
    ),
    items=ROLES,
    options=set(),
    override=CHANGES,
    update=refresh,
)


def refresh_users(material: bpy.types.Material, _context: bpy.types.Context) -> None:
    """Requests a new evaluation of the objects with a material."""
    for obj in bpy.data.objects:
        if obj.type == "MESH" and any(slot.material == material for slot in obj.material_slots):
            obj.update_tag()


HARD_MATERIAL = BoolProperty(
    name="Rigid",
    description="Faces with this material are hard, like metal, and follow their bones; with Bone Core only",
    default=False,
    options=set(),
    update=refresh_users,
)
