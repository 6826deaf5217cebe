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
            "Vertex group that says how much of the flesh is muscle, 0 to 1. Its fibres lie along the bones "
            "and contract in the final motion by Contraction"
        ),
    )
    muscle_stiffness: FloatProperty(
        name="Muscle Stiffness",
        description=(
            "How stiff the fibres are where the group is 1, in multiples of the flesh's own stiffness, "
            "without unit. Stiffer fibres shorten by more of what Contraction asks for"
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
            "How far muscles contract in the final motion: the share of their length by which their fibres "
            "want to be shorter. 0 relaxed, 1 to nothing; without unit. May be animated"
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
