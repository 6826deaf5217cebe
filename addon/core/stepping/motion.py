"""The motion of a body over a range of frames, in reduced coordinates."""

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields, replace
from typing import Union

import jounce
import numpy as np
from jounce import standard

from ..common.user_error import UserError, passing_on
from ..flesh.settings import (
    AttachedMotion,
    FrameMaterial,
    FrequencyOf,
    LooseMotion,
    MotionSettings,
    Physical,
    RestartMode,
)
from ..mesh.contact_points import Skin
from .resets import Teleport, Teleports

# Reference material of built bodies, Pa and kg/m^3. Modes do not depend on a uniform stiffness or density,
# which are set for the motion.
YOUNG, DENSITY = standard.YOUNG, standard.DENSITY

# The height with the scene's own gravity at a gravity strength of 1, in metres.
REFERENCE_SIZE = 1.8
# Frequency of a pendulum of a body's length under gravity scaled with the size: on Earth at the reference
# height.
SWING = (9.81 / REFERENCE_SIZE) ** 0.5 / (2.0 * np.pi)
# Largest numbers of iterations of a substep: the full space needs many at its limits, as do loops of handles.
ITERATIONS, FINAL_ITERATIONS = 30, 200
# Tolerance of a substep, of one in a draft of every vertex, and of one in a loop of handles, whose far swings
# enlarge errors from pass to pass.
TOLERANCE, DRAFT_TOLERANCE, LOOP_TOLERANCE = 1e-6, 3e-5, 1e-9
# Share of a swing that is left when a motion counts as settled.
SETTLED = 0.1


Reduce = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class VertexInput:
    """Inputs of a full-space model at its vertices, in place of the reduced inputs of modes, or None.

    force: (n, 3), N. drag: resistance to the motion. offsets: (n, 3), metres, difference of the rig from
    linear skinning.
    """

    force: np.ndarray | None = None
    drag: "jounce.Drag | None" = None
    offsets: np.ndarray | None = None


@dataclass(frozen=True)
class FrameInput:
    """All inputs of the step to a frame, except the state before the step.

    pose: (b, 3, 4), rest to posed in world space, metres. strength: share of the pose's acceleration that
    acts on the flesh. offsets: (k, 3), difference of the rig from linear skinning in the pose, reduced by the
    body, or None. force: (m, 3, 4), a generalised force, or None. drag: resistance to the motion, or None.
    cut: True if the motion starts anew here. feel: None without animated settings. held: reason why no motion
    can follow the rig to this frame; the flesh then keeps its shape and the pose has no meaning. Empty in all
    other frames. colliders: (c, 3, 4), placements of the colliders, of their objects or in the native
    module's form, or None. vertices: force, drag and offsets for a final motion, and force and drag for a
    learnt one; None without any. contraction: wanted shortening of each muscle as a share, None without any.
    stitching: active share of each stitch group, None if none opens. inflation: wanted factor on the lengths
    of a loose body. animated: True if a loose body goes along with its object. touching: drives of the other
    loose bodies in contact. spots: (k, 3), metres, places of a body not determined by its pose, else None.
    switches: of its posing modifiers. The last two serve for teleports only.
    """

    pose: np.ndarray
    strength: float
    offsets: np.ndarray | None = None
    force: np.ndarray | None = None
    drag: "jounce.Drag | None" = None
    cut: bool = False
    feel: FrameMaterial | None = None
    held: str = ""
    colliders: np.ndarray | None = None
    vertices: VertexInput | None = None
    contraction: tuple[float, ...] | None = None
    stitching: tuple[float, ...] | None = None
    inflation: float = 1.0
    animated: bool = False
    touching: "tuple[FrameInput, ...]" = ()
    spots: np.ndarray | None = None
    switches: tuple[bool, ...] = ()

    def set_up(self, target: "Target") -> None:
        """Gives a simulation the settings of this frame."""
        target.strength = self.strength
        if self.feel is not None:
            target.vary(**asdict(self.feel))
        if self.contraction is not None:
            target.vary(contraction=np.array(self.contraction))
        if self.stitching is not None:
            target.vary(stitching=np.array(self.stitching))

    @property
    def around(self) -> np.ndarray:
        """Placements of the colliders, (c, 3, 4); empty without any."""
        return np.empty((0, 3, 4)) if self.colliders is None else self.colliders

    def of_modes(self) -> "FrameInput":
        """Inputs of a draft: modes have no muscles."""
        return replace(self, vertices=None, contraction=None)

    def of_handles(self) -> "FrameInput":
        """Inputs of a loose or attached body."""
        others = tuple(each.of_handles() for each in self.touching)
        return replace(self, offsets=None, vertices=None, contraction=None, stitching=None, touching=others)

    def of_vertices(self) -> "FrameInput":
        """Inputs of a final motion."""
        own = VertexInput() if self.vertices is None else self.vertices
        return replace(self, force=own.force, drag=own.drag, offsets=own.offsets, vertices=None)

    def of_displacements(self, reduce: "Reduce") -> "FrameInput":
        """Inputs of a learnt motion. reduce: from forces (n, 3) to one per displacement."""
        own = VertexInput() if self.vertices is None else self.vertices
        reduced = None if own.force is None else reduce(own.force)
        bare = replace(self, offsets=None, vertices=None, contraction=None)
        return replace(bare, force=reduced, drag=own.drag)

    def agrees(self, other: "FrameInput") -> bool:
        """True if both are equal up to the offsets, which not every scene provides."""
        mine, others = (replace(each, offsets=None, vertices=None) for each in (self, other))
        return mine.digest() == others.digest()

    def moves_as(self, other: "FrameInput") -> bool:
        """True if both have the same rig motion up to the offsets, without regard to settings, colliders,
        muscles and stitches.
        """
        mine, others = (
            replace(each, strength=1.0, feel=None, colliders=None, contraction=None, stitching=None)
            for each in (self, other)
        )
        return mine.agrees(others)

    def digest(self) -> bytes:
        """Digest of 16 bytes: equal for bitwise equal drives."""
        digest = hashlib.blake2b(digest_size=16)
        # Caches from before there were these stay right.
        absent = {name for name, is_there in self._newer().items() if not is_there} | {"spots", "switches"}
        for field in (field for field in fields(self) if field.name not in absent):
            for part in plain(getattr(self, field.name)):
                digest.update(
                    np.ascontiguousarray(part).data if isinstance(part, np.ndarray) else repr(part).encode()
                )
        return digest.digest()

    def _newer(self) -> dict[str, bool]:
        newer = "colliders", "vertices", "contraction", "stitching"
        loose = {
            "inflation": self.inflation != 1.0,
            "animated": self.animated,
            "touching": bool(self.touching),
        }
        return {"held": bool(self.held)} | loose | {name: getattr(self, name) is not None for name in newer}


def plain(value: object) -> tuple[object, ...]:
    """Arrays and plain values with the full contents of a drive's field."""
    if isinstance(value, VertexInput):
        return tuple(part for field in fields(value) for part in plain(getattr(value, field.name)))
    if isinstance(value, jounce.Drag):
        return value.linear, value.quadratic, value.velocity
    if isinstance(value, tuple) and value and isinstance(value[0], FrameInput):
        return tuple(each.digest() for each in value)
    return (value,)


@dataclass(frozen=True)
class Motion:
    """Poses (f, b, 3, 4) and coefficients (f, m, 3, 4), a row a frame, the input of a bake.

    held: rows with held flesh; their poses are those of the rows before. breaks: rows in which the motion
    starts anew.
    """

    poses: np.ndarray
    coefficients: np.ndarray
    held: frozenset[int] = frozenset()
    breaks: frozenset[int] = frozenset()


def motion_of(drives: "list[FrameInput]", coefficients: np.ndarray, teleports: Iterable[int] = ()) -> Motion:
    """The motion of drives and the coefficients (f, m, 3, 4) simulated with them.

    teleports: rows with a start of a new motion without a keyed cut.
    """
    held = frozenset(row for row, drive in enumerate(drives) if drive.held)
    followed = next((drive.pose for drive in drives if not drive.held), None)
    if followed is None:
        raise UserError(f"No frame can be followed: {drives[0].held}.")
    poses = []
    for drive in drives:
        followed = followed if drive.held else drive.pose
        poses.append(followed)
    breaks = held.union(teleports, (row for row, drive in enumerate(drives) if drive.cut))
    return Motion(np.stack(poses), coefficients, held, breaks)


def held_sentence(drives: "list[FrameInput]", first: int) -> str:
    """Frames with held flesh, and the reason; empty without any. first: number of the first frame."""
    rows = [row for row, drive in enumerate(drives) if drive.held]
    if not rows:
        return ""
    where = f"In frame {first + rows[0]}" + (f" and {len(rows) - 1} more" if len(rows) > 1 else "")
    return f"{where} the flesh holds: {drives[rows[0]].held}"


def rough_sentence(frames: list[int]) -> str:
    """Frames that have not converged, and the remedy; empty without any."""
    if not frames:
        return ""
    where = f"In frame {min(frames)}" + (f" and {len(frames) - 1} more" if len(frames) > 1 else "")
    return f"{where} the final motion has not converged; raise Substeps"


Target = Union["jounce.Simulation", "jounce.MotionJob"]


@dataclass(frozen=True)
class Schedule:
    """Starts of a motion, at the beginning and after cuts.

    pre_roll: frames with the first pose before the start. teleport: definition of a cut without a key.
    """

    pre_roll: int = 0
    start: RestartMode = RestartMode.REST
    cut: RestartMode = RestartMode.REST
    teleport: Teleport | None = None

    @property
    def coasts(self) -> bool:
        """True if the rig moves in the first frame already, with its velocity of that frame."""
        return self.start is RestartMode.MOVING

    def teleports(self) -> Teleports:
        """Finds teleports from the first pose on."""
        return Teleports(self.teleport)


def begin(target: Target, drive: FrameInput, course: Schedule) -> None:
    """Starts a motion in its first pose."""
    enter(target, drive, course.start)
    for _ in range(0 if course.coasts else course.pre_roll):
        step(target, drive)


def advance(
    target: Target,
    drive: FrameInput,
    course: Schedule,
    teleported: bool = False,
    *,
    is_first_step: bool = False,
) -> None:
    """Advances to the next frame, or starts anew there after a cut or a teleport."""
    if drive.cut or teleported:
        enter(target, drive, course.cut)
        return
    if is_first_step and course.coasts:
        target.coast(drive.pose, drive.offsets, drive.colliders)
    step(target, drive)


def enter(target: Target, drive: FrameInput, crossing: RestartMode) -> None:
    """Is in a pose without having moved there."""
    drive.set_up(target)
    if crossing in (RestartMode.SETTLED, RestartMode.MOVING):
        target.settle(
            drive.pose, drive.force, offsets=drive.offsets, drag=drive.drag, colliders=drive.colliders
        )
    elif crossing is RestartMode.KEPT:
        target.cut(drive.pose, drive.offsets, drive.colliders)
    else:
        target.reset(drive.pose, drive.offsets, drive.colliders)


def step(target: Target, drive: FrameInput, pull: "jounce.Pull | None" = None) -> None:
    """Moves to a pose in the time of a frame. pull: springs on points of a body of handles."""
    drive.set_up(target)
    held = () if pull is None else (pull,)
    target.step(drive.pose, drive.force, drive.offsets, drive.drag, drive.colliders, *held)


class Recorder:
    """Collects the coefficients of a motion simulated on a thread of the native module.

    An error of a step is raised with the request for its result.
    """

    def __init__(self, job: "jounce.MotionJob") -> None:
        """job: at the start of the motion."""
        self.job = job
        self._taken = 0

    def take(self, wait: bool) -> "list[tuple[np.ndarray, jounce.State | None, bool]]":
        """Results since the last call, or all requested ones: coefficients (m, 3, 4), states if requested,
        and true for converged steps.
        """
        with passing_on("The motion cannot be simulated"):
            if wait:
                self.job.wait()
            coefficients = self.job.coefficients(self._taken)
        if not np.isfinite(coefficients).all():
            raise UserError("The motion grew beyond all bounds; raise Damping Ratio or Substeps.")
        first = self._taken
        self._taken += len(coefficients)
        converged = self.job.converged(first)
        states = [self.job.state(first + index) for index in range(len(coefficients))]
        return list(zip(coefficients, states, converged[: len(states)], strict=True))


def simulation(
    body: "jounce.Body",
    settings: MotionSettings,
    frame_seconds: float,
    gravity: np.ndarray,
    model: "jounce.Model | None" = None,
    colliders: "list[jounce.Collider] | None" = None,
    skin: Skin | None = None,
    shape: "jounce.Collider | None" = None,
    tolerance: float = TOLERANCE,
) -> "jounce.Simulation":
    """A simulation before its start. gravity: (3,) m/s^2, already scaled. model: another model of the body.

    colliders: for contact with the skin. shape: collider of this body for other loose bodies, None without
    contact between them.
    """
    return jounce.Simulation(
        body.model if model is None else model,
        dt=frame_seconds,
        substeps=settings.substeps,
        max_iterations=ITERATIONS if model is None and tolerance > LOOP_TOLERANCE else FINAL_ITERATIONS,
        tolerance=tolerance,
        integrator=settings.integrator,
        limit=settings.limit,
        stretch=settings.stretch,
        smoothing=standard.SMOOTHING,
        colliders=colliders,
        contact_points=None if skin is None else skin.embedding,
        contact_weights=None if skin is None else skin.weights,
        contact_triangles=None if skin is None else skin.triangles,
        self_collision=skin is not None and skin.self_collision,
        shape=shape,
        **asdict(material_of(body, settings, gravity)),
    )


def material_of(body: "jounce.Body", settings: MotionSettings, gravity: np.ndarray) -> FrameMaterial:
    """The settings that may change per frame. gravity: (3,) m/s^2, already scaled."""
    stiffness = stiffness_of(built_frequency(body, settings.frequency_of), settings)
    x, y, z = gravity
    return settings.in_frame(stiffness, damping_of(body, settings), (x, y, z))


def built_frequency(body: "jounce.Body", frequency_of: FrequencyOf) -> float:
    """The reference frequency in Hz for setting the stiffness, of the body as built."""
    if isinstance(body.mesh, jounce.SurfaceMesh):
        return wave_frequency(float(np.linalg.norm(np.ptp(body.mesh.points, axis=0))))
    if frequency_of is FrequencyOf.LOWEST_MODE:
        return body.model.frequency
    return standard.size_frequency(float(body.mesh.volumes.sum()))


def wave_frequency(length: float) -> float:
    """Frequency of a pressure wave over a length, metres."""
    return (YOUNG / DENSITY) ** 0.5 / length


def damping_of(body: "jounce.Body", settings: MotionSettings) -> float:
    """The damping ratio for the native module, which refers to the lowest frequency of a model.

    An attached body swings much slower, like a pendulum of its size, and its ratio refers to this frequency.
    """
    if not isinstance(settings, AttachedMotion):
        return settings.damping
    factor = stiffness_of(built_frequency(body, settings.frequency_of), settings)
    return settings.damping * SWING / (body.model.frequency * factor**0.5)


def settling_seconds(body: "jounce.Body", settings: MotionSettings) -> float:
    """The time in which the lowest mode's swing falls to a share of `SETTLED`; infinite without damping."""
    factor = stiffness_of(built_frequency(body, settings.frequency_of), settings)
    ratio = damping_of(body, settings)
    # Beyond a ratio of 1, the slower of two decays counts.
    decay = ratio - max(0.0, ratio**2 - 1.0) ** 0.5
    rate = 2.0 * np.pi * body.model.frequency * factor**0.5 * decay
    return float(-np.log(SETTLED) / rate) if rate > 0.0 else float("inf")


def stiffness_of(built: float, settings: MotionSettings) -> float:
    """The factor on the elastic energy for a `built_frequency` of `built`, in Hz.

    The softness divides it, so that all frequencies fall with the square root of the softness.
    """
    if settings.material is not None:
        return physical_stiffness(settings.material) / settings.softness
    return stiffness(built, settings.frequency) / settings.softness


def physical_stiffness(material: Physical) -> float:
    """`s = (E / rho) / (E_built / rho_built)`: the same stiffness moves a lighter body faster."""
    return (material.young / YOUNG) * (DENSITY / material.density)


def physical_frequency(built: float, material: Physical) -> float:
    """The lowest frequency in Hz of a material: lower for larger bodies."""
    return built * physical_stiffness(material) ** 0.5


def stiffness(built: float, wanted: float) -> float:
    """The factor on the elastic energy that moves a frequency from `built` to `wanted`, both in Hz.

    `s = (wanted / built)^2`: all frequencies grow alike, with the square root of the stiffness.
    """
    if built <= 0.0:
        raise UserError(
            "The body has a mode without stiffness, so its frequency cannot be set; check its weights."
        )
    return (wanted / built) ** 2


def load_scale(settings: MotionSettings, diagonal: float) -> float:
    """The factor on accelerations in m/s^2 for equal relative bending at any size: displacements are a /
    omega^2.

    The factor is 1 for physical values, which are absolute, and for loose bodies, which fall like a stone.
    """
    is_true = settings.material is not None or isinstance(settings, LooseMotion)
    return 1.0 if is_true else diagonal / REFERENCE_SIZE
