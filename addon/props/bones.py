"""What a bone says about the flesh that it moves, as a setting of the bone in its pose."""

import bpy
from bpy.props import FloatProperty

from .overrides import CHANGES


def refresh(bone: bpy.types.PoseBone, _context: bpy.types.Context) -> None:
    """Has the armature looked at again: previewed bodies are then built anew."""
    bone.id_data.data.update_tag()


LEAK = FloatProperty(
    name="Momentum Leak",
    description=(
        "How much of this bone's momentum reaches its flesh, 1 as usual, 0 not at all; multiplied with the "
        "map, blended as the weights are. Without unit. Hold Alt to set it on all selected bones"
    ),
    default=1.0,
    min=0.0,
    max=1.0,
    subtype="FACTOR",
    options=set(),
    override=CHANGES,
    update=refresh,
)
