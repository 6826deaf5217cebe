"""Motion settings of the flesh."""

from dataclasses import asdict

import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty

from ..core.body import sensible
from ..core.flesh.settings import AttachedMotion, FrequencyOf, LooseMotion, MotionSettings
from .refresh import refreshing

INTEGRATORS = (
    ("backward_euler", "Calm", "Backward Euler: swings die away soon, whatever the damping ratio"),
    ("bdf2", "Lively", "BDF2: swings last as long as the damping ratio lets them"),
)


@refreshing
class MotionProps:
    """Settings of the host; changes need no build."""

    # Chosen on dancing and running characters of all sizes. At 5 Hz the fastest hundredth of the vertices
    # moves by 1 to 2 percent of the diagonal, which looks like flesh; at 2.5 Hz by 4 to 6, which looks like
    # jelly.
    frequency: FloatProperty(
        name="Frequency (Hz)",
        description=(
            "Firmness of the flesh, in Hz: a wave crosses a cube of the body's volume this many times per "
            "second. Large soft parts swing about half as often, long thin ones more slowly. Low is "
            "heavy and soft, high is firm, with the same meaning for a mouse and a whale"
        ),
        default=sensible.FREQUENCY,
        min=0.05,
        max=100.0,
        soft_min=0.5,
        soft_max=15.0,
        step=10,
    )
    # By sqrt(g / (1.8 m e)): under gravity scaled with the size, cloth stretches by e of its length.
    cloth_frequency: FloatProperty(
        name="Stretch Frequency (Hz)",
        description=(
            "Resistance of an attached surface to stretch, in Hz: a wave of stretch crosses the surface "
            "this many times per second. At 25 the surface gets one percent longer under gravity, at half "
            "as much four percent, with the same meaning for a mouse and a whale"
        ),
        default=25.0,
        min=0.5,
        max=500.0,
        soft_min=5.0,
        soft_max=100.0,
        step=100,
    )
    swing_frequency: FloatProperty(
        name="Swing Frequency (Hz)",
        description=(
            "Frequency of a pinned body's slowest part, in Hz. Grass and leaves have 1 to 3, an antenna 2 "
            "to 5, a tree less than 1"
        ),
        default=sensible.SWING_FREQUENCY,
        min=0.02,
        max=100.0,
        soft_min=0.2,
        soft_max=10.0,
        step=10,
    )
    amount: FloatProperty(
        name="Target Amplitude",
        description=(
            "Amplitude of the soft parts for Fit to Shot, in percent of the size: at most a twentieth of "
            "their vertices move further, in at most a twentieth of the frames; bellies may go 1.3 times "
            "and ears and tails 1.8 times as far. 2 is firm, 3.5 soft, 8 jelly"
        ),
        default=3.5,
        min=0.01,
        max=100.0,
        soft_min=0.5,
        soft_max=15.0,
        subtype="PERCENTAGE",
    )
    damping: FloatProperty(
        name="Damping Ratio",
        description=(
            "Damping ratio of every mode, without unit: 0 swings forever, 1 returns without overshooting"
        ),
        default=sensible.DAMPING,
        min=0.0,
        max=10.0,
        soft_max=1.0,
        step=1,
    )
    softness: FloatProperty(
        name="Softness",
        description=(
            "Softness of the flesh relative to the fit to the shot, without unit: 1 as fitted, 4 swings "
            "half as often and far wider, 0.25 is firm"
        ),
        default=1.0,
        min=0.05,
        max=20.0,
        soft_min=0.25,
        soft_max=4.0,
        step=5,
    )
    strength: FloatProperty(
        name="Amount",
        description=(
            "Share of the rig's acceleration felt by the flesh, without unit: 0 none, 1 natural, 3 as in "
            "a cartoon. Of an attached body, share of its motion beside its bones. May be animated"
        ),
        default=1.0,
        min=0.0,
        max=100.0,
        soft_max=3.0,
        step=5,
    )
    shot_amount: FloatProperty(
        name="Shot Amount",
        description=(
            "Share of the rig's acceleration fitted to this shot, without unit: above 1 for calm clips, "
            "below for wild ones. Amount multiplies it"
        ),
        default=1.0,
        min=0.05,
        max=10.0,
        soft_min=0.35,
        soft_max=2.0,
        step=5,
    )
    pose_rest: FloatProperty(
        name="Pose Rest Shape",
        description=(
            "1: a held pose is kept exactly as the rig makes it. 0: the flesh relaxes to the bind shape. "
            "Blended between, without unit"
        ),
        default=1.0,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
    )
    substeps: IntProperty(
        name="Substeps",
        description=(
            "Simulation steps per frame. With more steps, less motion is lost, and a frame takes longer"
        ),
        default=sensible.SUBSTEPS,
        min=1,
        max=64,
        soft_max=16,
    )
    integrator: EnumProperty(
        name="Integrator",
        description="Decay of swings in each step, in addition to the damping",
        items=INTEGRATORS,
    )
    use_gravity: BoolProperty(
        name="Gravity", description="Let the flesh hang along the scene's gravity", default=False
    )
    gravity: FloatProperty(
        name="Gravity Strength",
        description=(
            "Strength of gravity, without unit: 1 is the effect of the scene's gravity on a body of 1.8 "
            "m, scaled with the body to look the same at any size"
        ),
        default=1.0,
        soft_min=-2.0,
        soft_max=2.0,
        step=10,
    )

    velocity: FloatVectorProperty(
        name="Velocity (m/s)",
        description="Starting velocity of a loose body, along the axes of the world, in m/s",
        subtype="XYZ",
        size=3,
        soft_min=-20.0,
        soft_max=20.0,
        step=10,
    )
    spin: FloatVectorProperty(
        name="Spin (°/s)",
        description="Starting spin of a loose body, about the axes of the world, in degrees a second",
        subtype="XYZ",
        size=3,
        soft_min=-720.0,
        soft_max=720.0,
        step=100,
    )

    animated: BoolProperty(
        name="Animated",
        description=(
            "Hold a loose body in the place of its object, moved by keys and parents. Switched off, the "
            "body flies on as fast as the object moves and turns; switched on again, the object catches "
            "the body. Animate it"
        ),
        default=False,
    )
    catch: FloatProperty(
        name="Catch (s)",
        description=(
            "Duration of the way of a loose body to its object after Animated goes on, in seconds; at 0 "
            "the body jumps"
        ),
        default=0.5,
        min=0.0,
        max=60.0,
        soft_max=2.0,
        step=10,
    )
    inflation: FloatProperty(
        name="Inflate",
        description=(
            "Factor on the length, width and height of a built loose body: at 1.26 the body has twice the "
            "volume; without unit. May be animated"
        ),
        default=1.0,
        min=0.1,
        max=10.0,
        soft_min=0.5,
        soft_max=2.0,
        step=1,
    )

    def motion_settings(self) -> MotionSettings:
        """Inputs of the motion that need no build."""
        settings = self._rigged_settings()
        if self.is_flesh:
            return settings
        # A free body has no place as the reference of a limit.
        of_flesh = asdict(settings) | {"limit": None, "stretch": None, "material": settings.material}
        if self.is_attached:
            own = {"frequency": self.cloth_frequency, "frequency_of": FrequencyOf.SIZE, "material": None}
            return AttachedMotion(**of_flesh | own)
        if self.is_pinned:
            own = {"frequency": self.swing_frequency, "frequency_of": FrequencyOf.LOWEST_MODE}
            return MotionSettings(**of_flesh | own | {"material": None})
        spin = tuple(np.radians(self.spin).tolist())
        return LooseMotion(**of_flesh, velocity=tuple(self.velocity), spin=spin, catch=self.catch)

    def _rigged_settings(self) -> MotionSettings:
        return MotionSettings(
            frequency=self.frequency,
            softness=self.softness,
            damping=self.damping,
            pose_rest=self.pose_rest,
            substeps=self.substeps,
            gravity=self.gravity if self.use_gravity else 0.0,
            integrator=self.integrator,
            material=self.material(),
            frequency_of=FrequencyOf(self.frequency_of),
            **self.shot_settings(),
        )
