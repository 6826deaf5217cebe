"""The vertex groups of the maps."""

from bpy.props import BoolProperty, FloatProperty, StringProperty

from ..bridge.body.weight_maps import SCALE
from ..core.mesh.maps import StiffnessScale
from .refresh import refreshing


@refreshing
class MapProps:
    """Settings of the host; a change needs a build, which is automatic in a preview."""

    stiffness_group: StringProperty(
        name="Stiffness",
        description="Vertex group for stiffness: towards 0 it is softer, towards 1 stiffer, in equal factors",
    )
    stiffness_soft: FloatProperty(
        name="Minimum Factor",
        description="Factor on the stiffness (Young's modulus) where the group is 0, without unit",
        default=1.0,
        min=1e-4,
        max=1e4,
        soft_min=0.01,
        soft_max=1.0,
    )
    stiffness_stiff: FloatProperty(
        name="Maximum Factor",
        description="Factor on the stiffness (Young's modulus) where the group is 1, without unit",
        default=30.0,
        min=1e-4,
        max=1e4,
        soft_min=1.0,
        soft_max=1000.0,
    )
    stiffness_centred: BoolProperty(
        name="Half Is Neutral",
        description=(
            "A weight of 0.5, and a mesh without the group, stay as stiff as they are; less is softer, more "
            "is stiffer. Off, the factors run from 0 straight to 1, and a mesh without the group counts as 0"
        ),
        default=False,
    )
    leak_group: StringProperty(
        name="Momentum Leak",
        description=(
            "Vertex group with the share of the bones' momentum felt by the flesh, 0 to 1. Only "
            "differences within one bone's region matter; for more or less motion as a whole use Amount"
        ),
    )
    pin_group: StringProperty(
        name="Pin", description="Vertex group of the flesh in its exact rigged place: weights above 0.5"
    )
    strength_group: StringProperty(
        name="Strength Map",
        description=(
            "Vertex group with the share of the rig's acceleration felt by each vertex, 0 to 1, on "
            "top of Amount"
        ),
    )

    def stiffness_scale(self) -> StiffnessScale:
        """Meaning of the stiffness map's weights."""
        return StiffnessScale(self.stiffness_soft, self.stiffness_stiff, self.stiffness_centred)

    def centre_stiffness(self) -> None:
        """Lets a new map soften as well as stiffen; factors chosen by the artist stay."""
        self.stiffness_centred = True
        if not self.is_property_set("stiffness_soft"):
            self.stiffness_soft = 1.0 / self.stiffness_stiff

    def take_stiffness_scale(self, other: "MapProps") -> None:
        """Takes over the meaning of the weights from another host."""
        for setting in SCALE:
            setattr(self, setting, getattr(other, setting))
