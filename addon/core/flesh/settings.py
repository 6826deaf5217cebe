"""Settings as plain values, taken from the scene once at the start of a task."""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from . import drawn_law


class Target(Enum):
    """Bake target."""

    MODAL_KEYS = "MODAL_KEYS"
    FRAME_KEYS = "FRAME_KEYS"
    SKINNING_NODES = "SKINNING_NODES"
    MESH_CACHE = "MESH_CACHE"
    HELPER_BONES = "HELPER_BONES"
    OWN_BONES = "OWN_BONES"

    @property
    def is_keys(self) -> bool:
        """True for targets with shape keys."""
        return self in (Target.MODAL_KEYS, Target.FRAME_KEYS)


class Law(Enum):
    """Elastic law of final flesh, by the native module's names of elastic energies."""

    COROTATED = "corotated"
    NEO_HOOKEAN = "neo_hookean"
    MOONEY_RIVLIN = "mooney_rivlin"
    VENANT = "stvk"
    CURVE = "spline"


@dataclass(frozen=True)
class Flesh:
    """Material of final flesh, without the stiffness.

    poisson: ratio. hardening: relative gain of stiffness at a length change of a half. curve: samples of a
    drawn law.
    """

    law: Law
    poisson: float
    hardening: float = 0.0
    curve: drawn_law.Curve = drawn_law.LINE

    @property
    def has_curves(self) -> bool:
        """True if the native module takes the stress as curves."""
        return self.law is Law.CURVE or self.hardening > 0.0

    @property
    def curve_digest(self) -> str:
        """Identifier of the drawn curve, empty for other laws."""
        return drawn_law.digest(self.curve) if self.law is Law.CURVE else ""

    @property
    def key(self) -> str:
        """Identifier of the flesh, in addition to the inputs of the build."""
        hardening = f"{self.hardening!r}" if self.hardening > 0.0 else ""
        return " ".join(filter(None, (self.law.value, self.curve_digest, hardening)))


class Quality(Enum):
    """Simulated coordinates: the modes of a body, its learnt basis, or every vertex of the cage."""

    DRAFT = "DRAFT"
    LEARNT = "LEARNT"
    FINAL = "FINAL"


# The choice of the final motion wherever a body can have it, and of its draft elsewhere.
AUTOMATIC = "AUTOMATIC"


class BodyKind(Enum):
    """Kind of a body.

    Flesh follows a rig or its object; a loose body falls and rolls; an attached body is a surface without
    volume that hangs on a rig by its pinned vertices; a pinned body swings about the place where it is fixed.
    """

    RIGGED = "RIGGED"
    LOOSE = "LOOSE"
    ATTACHED = "ATTACHED"
    PINNED = "PINNED"


@dataclass(frozen=True)
class LooseSettings:
    """Inputs of the model of a loose body, beside the surface.

    handles: number of handles. clusters: number of groups of tets with a shared rotation.
    """

    resolution: int
    handles: int
    clusters: int


@dataclass(frozen=True)
class PinnedSettings:
    """Inputs of the model of a pinned body, beside the surface.

    resolution: cells along the longest side of all. pieces: domains along the longest way from the root.
    """

    resolution: int
    pieces: int


@dataclass(frozen=True)
class AttachedSettings:
    """Inputs of the model of an attached body, beside the surface.

    handles: number of handles. thickness: share of the diagonal. bending: stiffness relative to a plate of
    this thickness. hold_frequency: of the spring of a pin weight of one, Hz.
    """

    handles: int
    thickness: float
    bending: float
    hold_frequency: float


@dataclass(frozen=True)
class BuildSettings:
    """Inputs of a model, beside the surface.

    The overall stiffness is not included: modes are independent of it, and the motion sets it. Relative
    stiffness is painted, as part of the surface. poisson: ratio; above 0 the flesh resists changes of volume.
    locality: 0 = global modes. cubature: tets for evaluating forces, 0 = the means of the clusters.
    """

    resolution: int
    modes: int
    clusters: int
    poisson: float
    locality: float = 0.0
    cubature: int = 0

    @property
    def law(self) -> Literal["arap", "corotated"]:
        """The native module's name of the elastic energy."""
        return "corotated" if self.poisson > 0.0 else "arap"


class RestartMode(Enum):
    """State of the flesh at the start or after a cut.

    In balance with a moving rig; in balance; exactly in the pose; or unchanged.
    """

    MOVING = "MOVING"
    SETTLED = "SETTLED"
    REST = "REST"
    KEPT = "KEPT"


class FrequencyOf(Enum):
    """Reference of the frequency that sets the stiffness: flesh of the body's size, or the lowest mode."""

    SIZE = "SIZE"
    LOWEST_MODE = "LOWEST_MODE"


@dataclass(frozen=True)
class Physical:
    """A material by physical values: Young's modulus in Pa, density in kg/m^3."""

    young: float
    density: float


# Fields of `MotionSettings` that may differ between the frames of a shot.
PER_FRAME = ("frequency", "damping", "pose_rest", "gravity", "material")


@dataclass(frozen=True)
class FrameMaterial:
    """Settings that may change per frame, in the native module's form.

    stiffness: factor on the elastic energy. damping: ratio. pose_rest: 0 = bind, 1 = pose. gravity: (3,)
    m/s^2, already scaled.
    """

    stiffness: float
    damping: float
    pose_rest: float
    gravity: tuple[float, float, float]


@dataclass(frozen=True)
class MotionSettings:
    """Inputs of the motion of a built model.

    frequency: Hz, of the reference frequency_of. softness: factor on the compliance, beside it. damping:
    ratio. pose_rest: 0 = bind, 1 = pose. gravity: 1 = the scene's gravity on a body of 1.8 m, 0 = none.
    integrator: the native module's name of the integration. material: sets the stiffness in place of the
    frequency; gravity is then not scaled. limit: largest displacement as a share of the diagonal. stretch:
    largest change of length, as a share. start, after_cut: start of a shot, and after a cut. teleport:
    distance of a leap that counts as a cut, as a share of the diagonal, None for never.
    """

    frequency: float
    damping: float
    pose_rest: float
    substeps: int
    gravity: float
    integrator: Literal["backward_euler", "bdf2"]
    material: Physical | None = None
    limit: float | None = None
    stretch: float | None = None
    start: RestartMode = RestartMode.MOVING
    after_cut: RestartMode = RestartMode.SETTLED
    teleport: float | None = None
    frequency_of: FrequencyOf = FrequencyOf.SIZE
    softness: float = 1.0

    def in_frame(
        self, stiffness: float, damping: float, gravity: tuple[float, float, float]
    ) -> FrameMaterial:
        """The settings of a frame, with those that depend on the body."""
        return FrameMaterial(stiffness, damping, self.pose_rest, gravity)


@dataclass(frozen=True)
class LooseMotion(MotionSettings):
    """Inputs of the motion of a loose body; gravity is that of the scene, at any size.

    velocity: m/s, spin: rad/s, at the start, in world directions. catch: seconds for the return to the object
    at a catch.
    """

    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    spin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    catch: float = 0.0


@dataclass(frozen=True)
class AttachedMotion(MotionSettings):
    """Inputs of the motion of an attached body. frequency: of stretch, Hz."""


@dataclass(frozen=True)
class BakeSettings:
    """Baked frames and target. tolerance: fraction of the rest diagonal.

    caches: common start of the paths of mesh caches; empty for a path from host and open file. shards: folder
    with the motion in parts; empty for a simulation.
    """

    target: Target
    frame_start: int
    frame_end: int
    pre_roll: int
    tolerance: float
    max_keys: int
    quality: Quality = Quality.DRAFT
    caches: str = ""
    shards: str = ""

    @property
    def frames(self) -> range:
        """The baked frames, both ends included."""
        return range(self.frame_start, self.frame_end + 1)
