"""Learns a shot: what the full space did in it becomes a few displacements, and tets that stand for all."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import jounce
import numpy as np

from .task import Step, finished
from .user_error import UserError, passing_on

# So many frames say all of a shot that so few displacements can hold, and of all shots together.
FRAMES, FRAMES_OF_ALL = 240, 480
# Where the frames begin and end, as shares of a shot, that are left out to see what was not seen; the fewest.
LEFT_OUT, FEWEST_LEFT_OUT = (0.4, 0.6), 3
# Of so many of its own modes a body keeps all twelve displacements beside those of a shot: what was not seen
# moves in them. They are learnt from states of this size, as a share of that of the shot's frames.
MODES, AMPLITUDE = 3, 0.15
# Flesh that moves by less than this share of the diagonal, root mean square, is still.
STILL = 1e-6


@dataclass(frozen=True, eq=False)
class Shot:
    """Frames of a final motion: poses (f, b, 3, 4) and displacements (f, n, 3) of the cage, metres."""

    poses: np.ndarray
    displacements: np.ndarray

    def __len__(self) -> int:
        return len(self.poses)

    def at(self, rows: np.ndarray) -> "Shot":
        """Some of its frames."""
        return Shot(self.poses[rows], self.displacements[rows])

    def thinned(self, most: int) -> "Shot":
        """At most so many of its frames, evenly."""
        return self if len(self) <= most else self.at(np.linspace(0, len(self) - 1, most).round().astype(int))


@dataclass(frozen=True)
class Bounds:
    """Largest displacement, as a share of the diagonal, and largest change of length, as a share."""

    limit: float
    stretch: float


def left_out(count: int) -> range:
    """The rows of a shot of so many frames that are left out, to see how the unseen moves; may be none."""
    rows = range(round(LEFT_OUT[0] * count), round(LEFT_OUT[1] * count))
    return rows if len(rows) >= FEWEST_LEFT_OUT else range(0)


def thinned(shots: list[tuple[str, Shot]]) -> list[tuple[str, Shot]]:
    """Shots by their names, each with no more frames than its part of all."""
    most = min(FRAMES, FRAMES_OF_ALL // len(shots))
    return [(name, shot.thinned(max(1, most))) for name, shot in shots]


def joined(shots: Sequence[Shot]) -> Shot:
    """All frames of some shots, one after the other."""
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
    """What a body learns of a shot, on a thread of the native module.

    count: most displacements, beside those of its own modes. frequency: Hz, that of the full space, at which
    the damping ratio is meant. bounds: of limits, whose forces it learns whether they are in use or not.
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
    """Refuses a shot in which the flesh moves by no more than rounding makes. name: of the body."""
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
    """How large displacements (f, n, 3) are, in the norm of the mass."""
    return float(np.sqrt((mass[:, np.newaxis] * displacements**2).sum()))
