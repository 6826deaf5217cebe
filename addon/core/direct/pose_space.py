"""Displacements in the space of the rest pose, which turn with the bones, and back in the world."""

import numpy as np

from ..mesh.surface import Surface
from ..rig.volume import preserving_linear


def linear(surface: Surface, pose: np.ndarray) -> np.ndarray:
    """Linear map of the armature for an offset of each vertex, A (p, 3, 3), in a pose (b, 3, 4)."""
    bones = pose[:, :, :3]
    maps = (surface.weights @ bones.reshape(-1, 9)).reshape(-1, 3, 3)
    for part in surface.parts:
        if part.preserves_volume:
            maps[part.points] = preserving_linear(surface.weights[part.points], bones)
    return maps


def posed(maps: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """World displacements (p, 3) f64 of offsets (p, 3) in the rest pose."""
    return np.einsum("pij,pj->pi", maps, offsets)
