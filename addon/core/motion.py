"""The motion of a body over a range of frames, in its reduced coordinates."""

from dataclasses import dataclass

import jounce
import numpy as np

from .refusal import Refusal, passing_on
from .settings import MotionSettings

# The height for which a gravity strength of 1 is the scene's own gravity, in metres.
REFERENCE_SIZE = 1.8


@dataclass(frozen=True)
class Drive:
    """All that the step to a frame depends on, beside the state before it.

    pose: (b, 3, 4), rest to posed in world space, metres. strength: how much of its acceleration is felt.
    """

    pose: np.ndarray
    strength: float


@dataclass(frozen=True)
class Motion:
    """Poses (f, b, 3, 4) and coefficients (f, m, 3, 4), a row a frame: all that a bake is made from."""

    poses: np.ndarray
    coefficients: np.ndarray


class Recorder:
    """Steps a simulation along with the poses it is given, frame by frame."""

    def __init__(
        self, body: "jounce.Body", settings: MotionSettings, frame_seconds: float, gravity: np.ndarray
    ) -> None:
        """gravity: (3,) m/s^2, already scaled."""
        self._poses: list[np.ndarray] = []
        self._coefficients: list[np.ndarray] = []
        self._simulation = jounce.Simulation(
            body.model,
            dt=frame_seconds,
            substeps=settings.substeps,
            damping=settings.damping,
            gravity=tuple(gravity),
            pose_rest=settings.pose_rest,
            integrator=settings.integrator,
            stiffness=stiffness(body.model.frequency, settings.frequency),
        )

    def start(self, drive: Drive, pre_roll: int) -> None:
        """Begins in the first pose, held for `pre_roll` frames so that the flesh settles in it."""
        with passing_on("The first pose cannot be simulated"):
            self._simulation.reset(drive.pose)
            for _ in range(pre_roll):
                self._advance(drive)
        self._keep(drive)

    def step(self, drive: Drive) -> None:
        """Goes on to the next frame."""
        with passing_on("A pose cannot be simulated"):
            self._advance(drive)
        self._keep(drive)

    def _advance(self, drive: Drive) -> None:
        self._simulation.strength = drive.strength
        self._simulation.step(drive.pose)

    def _keep(self, drive: Drive) -> None:
        coefficients = np.array(self._simulation.coefficients)
        if not np.isfinite(coefficients).all():
            raise Refusal("The motion grew beyond all bounds; raise the damping or the substeps.")
        self._poses.append(drive.pose)
        self._coefficients.append(coefficients)

    def motion(self) -> Motion:
        """All frames kept so far."""
        return Motion(np.stack(self._poses), np.stack(self._coefficients))


def stiffness(built: float, wanted: float) -> float:
    """The factor on the elastic energy that moves the lowest frequency from `built` to `wanted`, both in Hz.

    `s = (wanted / built)^2`: all frequencies grow alike, with the square root of the stiffness.
    """
    if built <= 0.0:
        raise Refusal(
            "The body has a mode without stiffness, so its frequency cannot be set; check its weights."
        )
    return (wanted / built) ** 2


def scaled_gravity(gravity: np.ndarray, strength: float, diagonal: float) -> np.ndarray:
    """Gravity (m/s^2) that bends bodies of any size alike: they sag by g / omega^2, so g grows with size."""
    return np.asarray(gravity) * (strength * diagonal / REFERENCE_SIZE)
