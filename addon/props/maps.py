"""The vertex groups that say where the flesh differs."""

from bpy.props import FloatProperty, StringProperty

from .refresh import refreshing


@refreshing
class MapProps:
    """Of the host; a change of these needs a new build."""

    stiffness_group: StringProperty(
        name="Stiffness",
        description="Vertex group for stiffness: 0 is soft, 1 is stiff, in equal factors between",
    )
    stiffness_soft: FloatProperty(
        name="At 0",
        description="Factor on the stiffness (Young's modulus) where the group is 0, without unit",
        default=1.0,
        min=1e-4,
        max=1e4,
        soft_min=0.01,
        soft_max=1.0,
    )
    stiffness_stiff: FloatProperty(
        name="At 1",
        description="Factor on the stiffness (Young's modulus) where the group is 1, without unit",
        default=30.0,
        min=1e-4,
        max=1e4,
        soft_min=1.0,
        soft_max=1000.0,
    )
    leak_group: StringProperty(
        name="Momentum Leak",
        description=(
            "Vertex group that scales how much of the bones' momentum reaches the flesh, 0 to 1. Only "
            "differences within one bone's region matter; for more or less motion as a whole use Strength"
        ),
    )
    pin_group: StringProperty(
        name="Pin", description="Vertex group of what stays exactly where the rig puts it: weights above 0.5"
    )
    strength_group: StringProperty(
        name="Strength Map", description="Vertex group that scales Strength, 0 to 1, vertex by vertex"
    )
