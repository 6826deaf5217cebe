"""Muscles: their maps, stiffness and contraction."""

import bpy
from bpy.props import CollectionProperty, FloatProperty, StringProperty

from .animated import keyed_where_read
from .overrides import overridable
from .refresh import refreshing


@refreshing
class OfMuscle:
    """Settings of one muscle; changes need no build."""

    muscle_group: StringProperty(
        name="Muscle",
        description=(
            "Vertex group with the share of muscle in the flesh, 0 to 1. The fibres lie along the bones "
            "and contract in the final motion by Contraction"
        ),
    )
    muscle_stiffness: FloatProperty(
        name="Muscle Stiffness",
        description=(
            "Stiffness of the fibres at a weight of 1, in multiples of the flesh's own stiffness, without "
            "unit. Stiffer fibres shorten by more of the Contraction"
        ),
        default=10.0,
        min=0.0,
        max=1000.0,
        soft_min=0.5,
        soft_max=50.0,
    )
    contraction: FloatProperty(
        name="Contraction",
        description=(
            "Contraction of muscles in the final motion: wanted shortening of the fibres, as a share of "
            "their length. 0 relaxed, 1 to nothing; without unit. May be animated"
        ),
        default=0.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )


@keyed_where_read
@overridable
class JounceMuscle(OfMuscle, bpy.types.PropertyGroup):
    """A further muscle with its own contraction."""


class MuscleProps(OfMuscle):
    """Settings of the host: the first muscle, and the further ones."""

    more_muscles: CollectionProperty(
        name="More Muscles",
        description="Muscles beside the first, each with a contraction of its own",
        type=JounceMuscle,
    )

    @property
    def muscles(self) -> tuple[OfMuscle, ...]:
        """All muscles in order."""
        return (self, *self.more_muscles)
