"""Muscles: fibres of final flesh that lie along the bones and contract."""

from dataclasses import dataclass

import jounce
import numpy as np

from .surface import hashed

# Flesh of which no more than this share is muscle, or moved by bones with a direction, has no fibres.
LEAST = 1e-3
# Bones decide between two directions where these differ by more than this share.
UNDECIDED = 1e-6


@dataclass(frozen=True, eq=False)
class Muscle:
    """Where a muscle is.

    share: (p,) f64 in [0, 1], how much of the flesh at each point of the surface it is. stiffness: of its
    fibres, in multiples of the flesh's own.
    """

    share: np.ndarray
    stiffness: float


@dataclass(frozen=True, eq=False)
class Muscles:
    """The muscles of a body, each of which contracts by itself.

    along: (b, 3) f64, unit vectors along the bones at rest, zero for what is no bone.
    """

    muscles: tuple[Muscle, ...]
    along: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """How much of the flesh at each point (p,) is muscle."""
        return np.max([muscle.share for muscle in self.muscles], axis=0)

    @property
    def digest(self) -> str:
        """Hash of all of it."""
        shares = (muscle.share for muscle in self.muscles)
        return hashed((*shares, self.along), tuple(muscle.stiffness for muscle in self.muscles))

    def fibres(self, body: "jounce.Body") -> "jounce.Fibres":
        """The fibres of a body in its cage; none where no bone says along what."""
        return jounce.Fibres.joined([self._fibres(body, muscle) for muscle in self.muscles])

    def _fibres(self, body: "jounce.Body", of: Muscle) -> "jounce.Fibres":
        tets = np.asarray(body.mesh.tets)
        share = np.clip(mean_of_corners(body.spread(of.share), tets), 0.0, 1.0)
        muscle = np.flatnonzero(share > LEAST)
        direction = np.zeros((len(tets), 3))
        weights = mean_of_corners(np.asarray(body.rig.weights), tets[muscle])
        direction[muscle] = directions(weights, self.along)
        stiffness = of.stiffness * share * body.material.young
        return jounce.Fibres(np.where(direction.any(axis=1), stiffness, 0.0), direction)


def directions_of_bones(heads: np.ndarray, tails: np.ndarray) -> np.ndarray:
    """Unit vectors (b, 3) from heads to tails (b, 3), zero where both are in one place."""
    along = tails - heads
    lengths = np.linalg.norm(along, axis=1, keepdims=True)
    return np.divide(along, lengths, out=np.zeros_like(along), where=lengths > 0.0)


def directions(weights: np.ndarray, along: np.ndarray) -> np.ndarray:
    """The direction (t, 3) that bones give to flesh, of unit length; zero where no bone has a weight.

    The `d` with the largest `sum_b w_b (d . d_b)^2`, so that it does not matter which end of a bone is its
    head. weights: (t, b). along: (b, 3), unit vectors or zero.
    """
    pull = np.einsum("tb,bi,bj->tij", weights, along, along, optimize=True)
    values, vectors = np.linalg.eigh(pull)
    found = vectors[:, :, 2]
    # Which of several directions are equally good rounding must not choose: the bone with most weight does.
    open_ = values[:, 2] - values[:, 1] <= UNDECIDED * values[:, 2]
    found[open_] = along[(weights[open_] * along.any(axis=1)).argmax(axis=1)]
    largest = np.take_along_axis(found, np.abs(found).argmax(axis=1)[:, np.newaxis], axis=1)
    found = np.where(largest < 0.0, -found, found)
    return np.where((np.trace(pull, axis1=1, axis2=2) > LEAST)[:, np.newaxis], found, 0.0)


def mean_of_corners(values: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """The mean of values (n, ...) at the corners of each tet, (t, ...)."""
    first, *others = tets.T
    total = values[first]
    for corner in others:
        total = total + values[corner]
    return 0.25 * total
