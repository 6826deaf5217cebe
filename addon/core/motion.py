"""The motion of a body over a range of frames, in its reduced coordinates."""

import hashlib
from dataclasses import dataclass, fields
from typing import Union

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
    offsets: (k, 3), what the rig adds to linear skinning with the pose, reduced by the body, or None.
    """

    pose: np.ndarray
    strength: float
    offsets: np.ndarray | None = None

    def agrees(self, other: "Drive") -> bool:
        """Whether both are the same up to the offsets, which are not read from every scene."""
        return self.strength == other.strength and np.array_equal(self.pose, other.pose)

    def digest(self) -> bytes:
        """16 bytes that are the same for the same drive, bit for bit."""
        digest = hashlib.blake2b(digest_size=16)
        for field in fields(self):
            value = getattr(self, field.name)
            digest.update(
                np.ascontiguousarray(value).data if isinstance(value, np.ndarray) else repr(value).encode()
            )
        return digest.digest()


@dataclass(frozen=True)
class Motion:
    """Poses (f, b, 3, 4) and coefficients (f, m, 3, 4), a row a frame: all that a bake is made from."""

    poses: np.ndarray
    coefficients: np.ndarray


Target = Union["jounce.Simulation", "jounce.MotionJob"]


def begin(target: Target, drive: Drive, pre_roll: int) -> None:
    """Starts a motion in its first pose, held for `pre_roll` frames so that the flesh settles in it."""
    target.reset(drive.pose, drive.offsets)
    for _ in range(pre_roll):
        advance(target, drive)


def advance(target: Target, drive: Drive) -> None:
    """Goes on to the next frame."""
    target.strength = drive.strength
    target.step(drive.pose, offsets=drive.offsets)


class Recorder:
    """Keeps the coefficients of a motion that is simulated on a thread of the native module.

    What a step refuses is raised when its result is asked for.
    """

    def __init__(self, simulation: "jounce.Simulation") -> None:
        """simulation: where the motion starts from; it stays as it is."""
        self.job = jounce.MotionJob(simulation)
        self._taken = 0

    def take(self, wait: bool) -> "list[tuple[np.ndarray, jounce.State | None]]":
        """What was kept since the last call, or all asked for: coefficients (m, 3, 4), states where asked."""
        with passing_on("The motion cannot be simulated"):
            if wait:
                self.job.wait()
            coefficients = self.job.coefficients(self._taken)
        if not np.isfinite(coefficients).all():
            raise Refusal("The motion grew beyond all bounds; raise the damping or the substeps.")
        first = self._taken
        self._taken += len(coefficients)
        return [(frame, self.job.state(first + index)) for index, frame in enumerate(coefficients)]


def simulation(
    body: "jounce.Body", settings: MotionSettings, frame_seconds: float, gravity: np.ndarray
) -> "jounce.Simulation":
    """A simulation that has not started. gravity: (3,) m/s^2, already scaled."""
    return jounce.Simulation(
        body.model,
        dt=frame_seconds,
        substeps=settings.substeps,
        damping=settings.damping,
        gravity=tuple(gravity),
        pose_rest=settings.pose_rest,
        integrator=settings.integrator,
        stiffness=stiffness(body.model.frequency, settings.frequency),
    )


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
