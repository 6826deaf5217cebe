"""Muscles: contracting fibres of final flesh along the bones."""

from dataclasses import dataclass

import jounce
import numpy as np

from ..mesh.surface import hashed

# Smallest share of muscle, or weight of bones with a direction, for flesh with fibres.
LEAST = 1e-3
# Largest difference of two directions' values for a decision by bones.
UNDECIDED = 1e-6


@dataclass(frozen=True, eq=False)
class Muscle:
    """Region of a muscle.

    share: (p,) f64 in [0, 1], share of the muscle in the flesh at each surface point. stiffness: of the
    fibres, in multiples of the flesh's own.
    """

    share: np.ndarray
    stiffness: float


@dataclass(frozen=True, eq=False)
class Muscles:
    """The muscles of a body, each with its own contraction.

    along: (b, 3) f64, unit vectors along the bones at rest, zero for entries without a bone.
    """

    muscles: tuple[Muscle, ...]
    along: np.ndarray

    @property
    def share(self) -> np.ndarray:
        """Share of muscle in the flesh at each point (p,)."""
        return np.max([muscle.share for muscle in self.muscles], axis=0)

    @property
    def digest(self) -> str:
        """Hash of the contents."""
        shares = (muscle.share for muscle in self.muscles)
        return hashed((*shares, self.along), tuple(muscle.stiffness for muscle in self.muscles))

    def fibres(self, body: "jounce.Body") -> "jounce.Fibres":
        """The fibres of a body in its cage; none without a bone for the direction."""
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
    """Unit vectors (b, 3) from heads to tails (b, 3), zero for coincident ones."""
    along = tails - heads
    lengths = np.linalg.norm(along, axis=1, keepdims=True)
    return np.divide(along, lengths, out=np.zeros_like(along), where=lengths > 0.0)


def directions(weights: np.ndarray, along: np.ndarray) -> np.ndarray:
    """Unit direction (t, 3) of the flesh from its bones; zero without a weighted bone.

    The `d` with the largest `sum_b w_b (d . d_b)^2`, which is independent of the bones' orientation from head
    to tail. weights: (t, b). along: (b, 3), unit vectors or zero.
    """
    pull = np.einsum("tb,bi,bj->tij", weights, along, along, optimize=True)
    values, vectors = np.linalg.eigh(pull)
    found = vectors[:, :, 2]
    # Rounding must not decide between equally good directions: the bone with the largest weight does.
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
