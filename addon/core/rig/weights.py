"""Vertex weights as used by Blender's Armature modifier."""

import numpy as np

# Smallest sum of weights used by the Armature modifier (its `contrib > 0.0001f`).
LEAST_SUM = 1e-4


def skinned(raw: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    """Weights (p, b + 1) with rows that sum to one; the last column is the object's, for vertices without a
    bone.

    raw: (p, b), the painted weights of deforming bones; each row is divided by its sum, as in the modifier.
    mask: (p,) in [0, 1], the modifier's own vertex group; the remainder stays with the object.
    """
    total = raw.sum(axis=1)
    moved = total > LEAST_SUM
    share = moved.astype(float) if mask is None else np.where(moved, mask, 0.0)
    weights = np.empty((raw.shape[0], raw.shape[1] + 1))
    weights[:, :-1] = raw * (share / np.where(moved, total, 1.0))[:, None]
    weights[:, -1] = 1.0 - share
    return weights
