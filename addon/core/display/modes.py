"""The displacements that a body is made of, and their frequencies, for those who look inside."""

from collections.abc import Generator
from dataclasses import dataclass
from enum import Enum

import jounce
import numpy as np
from jounce import operators

from ..body.built_bodies import BodyCache
from ..common.task import Step, finished
from ..common.user_error import passing_on
from ..mesh.surface import Surface
from ..stepping.motion import YOUNG

# Displayed amplitude at the most mobile place of a mode, as a share of the diagonal.
REACH = 0.06
# Displayed period of the lowest mode in seconds; the others are faster in proportion.
LOWEST_SECONDS = 1.0
# No mode is shown faster than this, in Hz: the eye would not follow.
FASTEST = 4.0
# Number of linear modes; their derivatives are one per pair.
LINEAR = 8


class Family(Enum):
    """Displayed displacements."""

    SKINNING = "SKINNING"
    LINEAR = "LINEAR"
    DERIVATIVES = "DERIVATIVES"


@dataclass(frozen=True, eq=False)
class Vibrations:
    """Linear modes of a body on its rig, and their derivatives.

    ratios: (k,), frequencies as multiples of the body's lowest skinning mode. modes: (k, n, 3), at the
    vertices of the tet mesh. derivatives: (k (k + 1) / 2, n, 3), one per pair i <= j.
    """

    ratios: np.ndarray
    modes: np.ndarray
    derivatives: np.ndarray

    def pair(self, number: int) -> tuple[int, int]:
        """The two modes of a derivative."""
        first, second = np.triu_indices(len(self.modes))
        return int(first[number]), int(second[number])


# Vibrations by the key of a body.
VIBRATIONS: BodyCache[Vibrations] = BodyCache(capacity=4)


def key(digest: str, body: "jounce.Body") -> str:
    """Name of a body's modes: an update of stitches keeps the digest."""
    return f"{digest} {body.residual!r}"


def vibrations(body: "jounce.Body", surface: Surface) -> Generator[Step, None, Vibrations]:
    """Computes linear modes and derivatives: of the flesh between the bones, stitches included."""
    stitches, seams = None, surface.stitches
    if len(seams):
        stiffness, radius = seams.newtons(YOUNG, surface.diagonal), seams.radius * surface.diagonal
        stitches = jounce.Stitches(
            body.mesh, seams.pairs, stiffness, seams.gap, body.embedding, seams.group, radius
        )
    with passing_on("The linear modes cannot be computed"):
        job = jounce.LinearModesJob(
            body.mesh,
            body.material,
            LINEAR,
            body.rig,
            body.leak,
            body.pinned,
            stitches=stitches,
            derivatives=True,
        )
        found = yield from finished(job, "Linear modes")
        return Vibrations(found.frequencies / body.model.frequency, found.shapes, found.derivatives())


def frequency_ratios(body: "jounce.Body") -> np.ndarray:
    """Frequencies (m,) of the modes relative to the lowest deforming one: `sqrt(lambda) / omega_1`."""
    own = np.sqrt(np.maximum(body.modes.eigenvalues, 0.0)) / (2.0 * np.pi)
    return own / body.model.frequency


def skinning_shape(body: "jounce.Body", mode: int, direction: np.ndarray) -> np.ndarray:
    """A skinning mode (p, 3) along a unit direction (3,), longest displacement 1."""
    weights = body.embedding.interpolate(body.modes.weights[:, mode : mode + 1].copy())
    return longest_one(weights * np.asarray(direction))


def shape_of(body: "jounce.Body", displacement: np.ndarray) -> np.ndarray:
    """A displacement (n, 3) of the tet mesh at the render vertices (p, 3), longest displacement 1."""
    return longest_one(body.embedding.interpolate(np.ascontiguousarray(displacement)))


def longest_one(shape: np.ndarray) -> np.ndarray:
    """A shape scaled to a longest displacement of 1, zero if it is zero."""
    longest = float(np.linalg.norm(shape, axis=1).max(initial=0.0))
    return shape / longest if longest > 0.0 else shape


def swing(shape: np.ndarray, diagonal: float, share: float) -> np.ndarray:
    """Offsets (p, 3) f32 in metres of a shape. share: of the displayed amplitude, -1 to 1."""
    return (shape * (REACH * diagonal * share)).astype(np.float32)


def shown_rate(ratio: float) -> float:
    """Displayed frequency of a mode, in Hz."""
    return min(max(ratio, 1.0) / LOWEST_SECONDS, FASTEST)


def moments(body: "jounce.Body") -> np.ndarray:
    """Second moments (m, 4, 4) of places within each mode, `sum_i m_i w_ik^2 [X; 1] [X; 1]' / sum_i m_i`."""
    mass = operators.lumped_mass(body.mesh, body.material)
    rest = np.column_stack([body.mesh.vertices, np.ones(len(mass))])
    shares = mass[:, np.newaxis] * body.modes.weights**2 / mass.sum()
    return np.einsum("nk,na,nb->kab", shares, rest, rest, optimize=True)


def amplitudes(inertia: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Root mean square displacement (m,) of each mode over the mass, metres: `tr(Z_k G_k Z_k')^(1/2)`.

    inertia: (m, 4, 4), `moments`. coefficients: (m, 3, 4), of a frame.
    """
    squared = np.einsum("kia,kab,kib->k", coefficients, inertia, coefficients, optimize=True)
    return np.sqrt(np.maximum(squared, 0.0))
