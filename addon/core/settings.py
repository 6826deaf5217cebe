"""Settings as plain values, taken from the scene once at the start of a task."""

from dataclasses import dataclass
from enum import Enum

from . import drawn_law


class Target(Enum):
    """What a bake writes."""

    MODAL_KEYS = "MODAL_KEYS"
    FRAME_KEYS = "FRAME_KEYS"
    SKINNING_NODES = "SKINNING_NODES"
    MESH_CACHE = "MESH_CACHE"
    HELPER_BONES = "HELPER_BONES"
    OWN_BONES = "OWN_BONES"

    @property
    def is_keys(self) -> bool:
        """Whether shape keys are written."""
        return self in (Target.MODAL_KEYS, Target.FRAME_KEYS)


class Law(Enum):
    """How final flesh answers to stretch, by the native module's names of elastic energies."""

    COROTATED = "corotated"
    NEO_HOOKEAN = "neo_hookean"
    MOONEY_RIVLIN = "mooney_rivlin"
    VENANT = "stvk"
    CURVE = "spline"


@dataclass(frozen=True)
class Flesh:
    """What final flesh is made of, beside its stiffness.

    poisson: ratio. hardening: how many times its own stiffness flesh gains where a length changes by a half.
    curve: samples of what is drawn, of the law that is a curve.
    """

    law: Law
    poisson: float
    hardening: float = 0.0
    curve: drawn_law.Curve = drawn_law.LINE

    @property
    def has_curves(self) -> bool:
        """Whether its stress is told to the native module by curves."""
        return self.law is Law.CURVE or self.hardening > 0.0

    @property
    def curve_digest(self) -> str:
        """By which what is drawn is known, empty for a law that is none."""
        return drawn_law.digest(self.curve) if self.law is Law.CURVE else ""

    @property
    def key(self) -> str:
        """By which a body of this flesh is known, beside what it was built from."""
        hardening = f"{self.hardening!r}" if self.hardening > 0.0 else ""
        return " ".join(filter(None, (self.law.value, self.curve_digest, hardening)))


class Quality(Enum):
    """What is simulated: the modes of a body, what it has learnt of a shot, or every vertex of its cage."""

    DRAFT = "DRAFT"
    LEARNT = "LEARNT"
    FINAL = "FINAL"


class BodyKind(Enum):
    """What a body is.

    Flesh, which follows a rig or its object; loose, so that it falls and rolls; or a surface without volume
    that hangs on a rig by what of it is pinned.
    """

    RIGGED = "RIGGED"
    LOOSE = "LOOSE"
    ATTACHED = "ATTACHED"


@dataclass(frozen=True)
class LooseSettings:
    """What the model of a loose body depends on, beside its surface.

    handles: how many move it. clusters: how many groups of tets share a rotation.
    """

    resolution: int
    handles: int
    clusters: int


@dataclass(frozen=True)
class AttachedSettings:
    """What the model of an attached body depends on, beside its surface.

    handles: how many move it. thickness: share of the diagonal. bending: how many times as stiff as a plate
    of that thickness.
    """

    handles: int
    thickness: float
    bending: float


@dataclass(frozen=True)
class BuildSettings:
    """What a model depends on, beside its surface.

    The stiffness of the whole is not among it: modes do not depend on it, so it is set when the motion is
    computed. Where parts are stiffer than others is painted, and part of the surface. poisson: ratio, above 0
    the flesh resists changes of volume. locality: 0 = global modes. cubature: tets at which forces are found,
    0 = the means of the clusters.
    """

    resolution: int
    modes: int
    clusters: int
    poisson: float
    locality: float = 0.0
    cubature: int = 0

    @property
    def law(self) -> str:
        """The native module's name of the elastic energy."""
        return "corotated" if self.poisson > 0.0 else "arap"


class RestartMode(Enum):
    """How the flesh is at the start or after a cut.

    In balance, and the rig on its way already; in balance; exactly as the rig has it; or as it was.
    """

    MOVING = "MOVING"
    SETTLED = "SETTLED"
    REST = "REST"
    KEPT = "KEPT"


class FrequencyOf(Enum):
    """Whose frequency sets the stiffness: flesh of the body's size, or the lowest mode of the body."""

    SIZE = "SIZE"
    LOWEST_MODE = "LOWEST_MODE"


@dataclass(frozen=True)
class Physical:
    """A material by its physical values: Young's modulus in Pa, density in kg/m^3."""

    young: float
    density: float


@dataclass(frozen=True)
class MotionSettings:
    """What the motion of a built model depends on.

    frequency: Hz, of what frequency_of names. damping: ratio. pose_rest: 0 = bind, 1 = pose. gravity: 1 = the
    scene's gravity on a body of 1.8 m, 0 = none. integrator: the native module's name of the integration.
    material: sets the stiffness in place of the frequency; gravity is then not scaled. limit: largest
    displacement as a share of the diagonal. stretch: largest change of length, as a share. start,
    after_cut: how a shot and what follows a cut begin. teleport: share of the diagonal from which a leap
    counts as a cut, None for never.
    """

    frequency: float
    damping: float
    pose_rest: float
    substeps: int
    gravity: float
    integrator: str
    material: Physical | None = None
    limit: float | None = None
    stretch: float | None = None
    start: RestartMode = RestartMode.MOVING
    after_cut: RestartMode = RestartMode.SETTLED
    teleport: float | None = None
    frequency_of: FrequencyOf = FrequencyOf.SIZE


@dataclass(frozen=True)
class LooseMotion(MotionSettings):
    """What the motion of a loose body depends on; gravity is that of the scene, at any size.

    velocity: m/s, spin: rad/s, with which it starts, in world directions. catch: seconds in which it comes to
    its object where that catches it.
    """

    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    spin: tuple[float, float, float] = (0.0, 0.0, 0.0)
    catch: float = 0.0


@dataclass(frozen=True)
class AttachedMotion(MotionSettings):
    """What the motion of an attached body depends on. frequency: of stretch, Hz."""


@dataclass(frozen=True)
class BakeSettings:
    """Which frames are baked, and to what. tolerance: fraction of the rest diagonal.

    caches: path that those of mesh caches begin with; empty for one that the host and the open file give.
    shards: folder with the motion in parts; empty where it is simulated.
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
