"""Learns a shot: the full-space motion is reduced to a few displacements and cubature tets."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import jounce
import numpy as np

from ..common.task import Step, finished
from ..common.user_error import UserError, passing_on

# Number of frames that suffice for the number of displacements, per shot and over all shots.
FRAMES, FRAMES_OF_ALL = 240, 480
# Range of the held-out frames for measuring unseen motion, as shares of a shot; smallest number of frames.
LEFT_OUT, FEWEST_LEFT_OUT = (0.4, 0.6), 3
# Number of linear modes kept with all twelve displacements each, for motion outside the shot; and the size of
# their training states relative to the shot's frames.
MODES, AMPLITUDE = 3, 0.15
# Motion of the flesh below this share of the diagonal, root mean square, counts as none.
STILL = 1e-6


@dataclass(frozen=True, eq=False)
class Shot:
    """Frames of a final motion: poses (f, b, 3, 4) and displacements (f, n, 3) of the cage, metres."""

    poses: np.ndarray
    displacements: np.ndarray

    def __len__(self) -> int:
        return len(self.poses)

    def at(self, rows: np.ndarray) -> "Shot":
        """A selection of the frames."""
        return Shot(self.poses[rows], self.displacements[rows])

    def thinned(self, most: int) -> "Shot":
        """At most this number of frames, evenly spread."""
        return self if len(self) <= most else self.at(np.linspace(0, len(self) - 1, most).round().astype(int))


@dataclass(frozen=True)
class Bounds:
    """Largest displacement, as a share of the diagonal, and largest change of length, as a share."""

    limit: float
    stretch: float


def left_out(count: int) -> range:
    """Held-out rows of a shot with this number of frames, for measuring unseen motion; may be empty."""
    rows = range(round(LEFT_OUT[0] * count), round(LEFT_OUT[1] * count))
    return rows if len(rows) >= FEWEST_LEFT_OUT else range(0)


def thinned(shots: list[tuple[str, Shot]]) -> list[tuple[str, Shot]]:
    """Shots by name, each thinned to its share of all frames."""
    most = min(FRAMES, FRAMES_OF_ALL // len(shots))
    return [(name, shot.thinned(max(1, most))) for name, shot in shots]


def joined(shots: Sequence[Shot]) -> Shot:
    """The concatenated frames of several shots."""
    poses = np.concatenate([shot.poses for shot in shots])
    return Shot(poses, np.concatenate([shot.displacements for shot in shots]))


def learned(
    body: "jounce.Body",
    shot: Shot,
    count: int,
    material: "jounce.Material",
    frequency: float,
    bounds: Bounds,
) -> "Generator[Step, None, jounce.Model]":
    """The learnt model of a shot, computed on a thread of the native module.

    count: largest number of displacements beside those of the linear modes. frequency: Hz, in the full space,
    for the damping ratio. bounds: limits, whose forces are learnt whether in use or not.
    """
    own = own_states(body, shot)
    both = joined([shot, own])
    with passing_on("Nothing can be learnt"):
        displacements = np.ascontiguousarray(both.displacements, np.float64)
        poses = np.ascontiguousarray(both.poses, np.float64)
        count += len(own)
        job = jounce.LearnJob(
            body,
            displacements,
            poses,
            count,
            material=material,
            frequency=frequency,
            limit=bounds.limit,
            stretch=bounds.stretch,
        )
        return (yield from finished(job, "Learning"))


def refuse_still(body: "jounce.Body", shot: Shot, name: str) -> None:
    """Refuses a shot without motion beyond rounding. name: body name."""
    mass, rest = body.mesh.vertex_volumes, np.asarray(body.mesh.vertices)
    moved = length(mass, shot.displacements) / np.sqrt(mass.sum() * len(shot))
    if moved <= STILL * np.linalg.norm(np.ptp(rest, axis=0)):
        raise UserError(
            f"The flesh of {name} does not move in this shot, so there is nothing to learn; animate it first."
        )


def own_states(body: "jounce.Body", shot: Shot) -> Shot:
    """States of the lowest modes of a body, `W_k [X; 1]` along each axis, in poses all over a shot."""
    weights = np.asarray(body.modes.weights)[:, :MODES]
    rest, mass = np.asarray(body.mesh.vertices), body.mesh.vertex_volumes
    places = np.concatenate([np.ones((len(rest), 1)), rest - rest.mean(axis=0)], axis=1)
    fields = np.einsum("nk,nd->kdn", weights, places).reshape(-1, len(rest))
    fields /= np.sqrt((mass * fields**2).sum(axis=1, keepdims=True))
    size = AMPLITUDE * np.sqrt(length(mass, shot.displacements) ** 2 / len(shot))
    displacements = size * np.einsum("kn,ij->kinj", fields, np.eye(3)).reshape(-1, len(rest), 3)
    rows = np.linspace(0, len(shot) - 1, len(displacements)).round().astype(int)
    return Shot(shot.poses[rows], displacements)


def length(mass: np.ndarray, displacements: np.ndarray) -> float:
    """Mass norm of displacements (f, n, 3) over all frames."""
    return float(np.sqrt((mass[:, np.newaxis] * displacements**2).sum()))
