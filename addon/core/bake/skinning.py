"""A motion as a weight for each mode and point, and a transform for each mode and frame.

With c the middle of the surface and `Z = [L | t]`,

    u_i = sum_k W_ik (L_k (X_i - c) + t_k + L_k c),

the same displacement about a point near the body, without loss of single precision far from the world's
origin.
"""

from collections.abc import Generator
from dataclasses import dataclass

import jounce
import numpy as np

from ..common.task import Step
from ..mesh.surface import Surface
from ..stepping.motion import Motion


@dataclass(frozen=True)
class SkinningTable:
    """Displacements `u_i = sum_k W_ik Z_k [Y_i; 1]` in world space and metres.

    points: Y (p, 3) f32. weights: W (m, p) f32. transforms: Z (f, m, 3, 4) f32. error: largest distance at
    any vertex and frame from the simulated displacement, in metres.
    """

    points: np.ndarray
    weights: np.ndarray
    transforms: np.ndarray
    error: float


def skinning_table(
    body: "jounce.Body", surface: Surface, motion: Motion
) -> Generator[Step, None, SkinningTable]:
    """The table of a motion, with its measured error."""
    points, transforms = centred(surface.points, motion.coefficients)
    weights = mode_weights(body)
    basis = np.concatenate([weights[:, None] * points.T, weights[:, None]], axis=1)
    basis = basis.reshape(-1, len(points))
    error = 0.0
    for frame, coefficients in enumerate(motion.coefficients):
        displacement = body.model.displacement(coefficients, body.embedding)
        table = basis.T @ transforms[frame].transpose(0, 2, 1).reshape(-1, 3)
        error = max(error, float(np.linalg.norm(table - displacement, axis=1).max()))
        yield Step(frame / len(transforms), "Measuring the transforms")
    return SkinningTable(points, weights, transforms, error)


def centred(points: np.ndarray, coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points about the middle of their bounding box, and equivalent transforms; f32."""
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
    transforms = coefficients.copy()
    transforms[..., 3] += coefficients[..., :3] @ centre
    return (points - centre).astype(np.float32), transforms.astype(np.float32)


def mode_weights(body: "jounce.Body") -> np.ndarray:
    """The weights W (m, p) f32 of the modes at the points of a surface, as in the displacements.

    The unit translation of a mode displaces each point by the mode's weight; three modes fit into one
    displacement.
    """
    count = body.model.mode_count
    weights = np.empty((count, len(body.embedding.points)), np.float32)
    for first in range(0, count, 3):
        coefficients = np.zeros((count, 3, 4))
        axes = np.arange(min(3, count - first))
        coefficients[first + axes, axes, 3] = 1.0
        weights[first + axes] = body.model.displacement(coefficients, body.embedding).T[axes]
    return weights
