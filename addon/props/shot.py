"""Events in a shot beside the animation: start, cuts, accelerations and force fields, and the limits."""

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, PointerProperty

from ..core.body import sensible
from ..core.flesh.settings import RestartMode
from .refresh import refreshing

SETTLED = (
    RestartMode.SETTLED.value,
    "Settled",
    "In balance with gravity and forces, as if the pose had been held for long",
)
MOVING = (
    RestartMode.MOVING.value,
    "In Motion",
    "In balance, and the rig arrives as fast as it leaves the first frame, without a jolt",
)
STARTS = (
    MOVING,
    SETTLED,
    (RestartMode.REST.value, "At Rest", "Exactly in the rig's pose; gravity then pulls the flesh down"),
)
CUTS = (
    SETTLED,
    (RestartMode.REST.value, "At Rest", "Exactly in the rig's pose"),
    (RestartMode.KEPT.value, "As It Was", "Bent as before the reset, turned with the body, without velocity"),
)


@refreshing
class ShotProps:
    """Settings of the host; changes need no build."""

    start: EnumProperty(name="Start", description="State of the flesh in the first frame", items=STARTS)
    cut: BoolProperty(
        name="Reset",
        description=(
            "Begin anew in this frame, without a jolt: for teleports and cuts. Animate it: on in the first "
            "frame after the jump, off in the next"
        ),
        default=False,
    )
    find_teleports: BoolProperty(
        name="Teleports",
        description="Reset at leaps of the whole body from one frame to the next, without a key",
        default=True,
    )
    # The wildest clips of low-poly creatures change their step by a fifth of the size, runs by a thirtieth.
    teleport: FloatProperty(
        name="Teleports",
        description=(
            "Smallest leap: motion of the whole body within one frame, in percent of its size, unlike the "
            "frames before. A fast run is no leap"
        ),
        default=50.0,
        min=1.0,
        max=10000.0,
        soft_min=10.0,
        soft_max=200.0,
        subtype="PERCENTAGE",
    )
    after_cut: EnumProperty(name="After a Reset", description="State of the flesh after a reset", items=CUTS)
    push: FloatVectorProperty(
        name="Acceleration",
        description=(
            "Acceleration of the whole body in world directions, in m/s². May be animated. For a body of "
            "1.8 m; scaled with the body like gravity, unless the stiffness is physical or the body is "
            "loose"
        ),
        subtype="ACCELERATION",
        size=3,
        soft_min=-50.0,
        soft_max=50.0,
    )
    field_weight: FloatProperty(
        name="Force Fields",
        description=(
            "Strength of the scene's force fields, without unit: 0 none, 1 as on everything simulated by "
            "Blender: a strength of 1 accelerates by 1 m/s²"
        ),
        default=1.0,
        soft_min=0.0,
        soft_max=2.0,
        step=5,
    )
    field_collection: PointerProperty(
        name="Field Collection",
        description="Only force fields in this collection act; all of the scene without one",
        type=bpy.types.Collection,
    )
    use_stretch: BoolProperty(
        name="Maximum Stretch", description="Stiffen the flesh before the Maximum Stretch", default=False
    )
    stretch: FloatProperty(
        name="Maximum Stretch",
        description=(
            "Largest change of any length in the flesh, in percent. Up to half of it nothing changes; "
            "beyond, the flesh becomes ever stiffer"
        ),
        default=40.0,
        min=1.0,
        max=1000.0,
        soft_max=100.0,
        subtype="PERCENTAGE",
    )
    use_limit: BoolProperty(
        name="Maximum Displacement",
        description=("Stiffen the flesh before the Maximum Displacement"),
        default=True,
    )
    limit: FloatProperty(
        name="Maximum Displacement",
        description=(
            "Largest displacement anywhere, in percent of the size. Up to half of it nothing changes; "
            "beyond, the flesh becomes ever stiffer"
        ),
        default=100.0 * sensible.LIMIT,
        min=0.1,
        max=1000.0,
        soft_min=2.0,
        soft_max=100.0,
        subtype="PERCENTAGE",
    )

    def shot_settings(self) -> dict[str, object]:
        """The fields of `MotionSettings` from this class."""
        return {
            "limit": self.limit / 100.0 if self.use_limit else None,
            "stretch": self.stretch / 100.0 if self.use_stretch else None,
            "start": RestartMode(self.start),
            "after_cut": RestartMode(self.after_cut),
            "teleport": self.teleport / 100.0 if self.find_teleports else None,
        }
