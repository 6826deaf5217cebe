"""Random poses of a character for the training of deformers: each channel within what was seen of it."""

from collections.abc import Mapping

import numpy as np

# Rotations of a bone without actions and limits about each of its axes, radians.
FREE = np.radians(30.0)
# Number of rotations that stand for limits.
SAMPLES = 64

# A channel: a bone and a property of it.
Channel = tuple[str, str]


def drawn(seen: Mapping[Channel, np.ndarray], count: int, seed: int) -> dict[Channel, np.ndarray]:
    """Values (count, w) of channels, each a mixture of two of the seen ones (k, w), at random.

    Mixtures of quaternions go the shorter way.
    """
    random, found = np.random.default_rng(seed), {}
    for channel in sorted(seen):
        values = seen[channel]
        one, other = values[random.integers(len(values), size=(2, count))]
        share = random.random((count, 1))
        if channel[1] == "rotation_quaternion":
            other = np.where(np.sum(one * other, axis=1, keepdims=True) < 0.0, -other, other)
        mixed = (1.0 - share) * one + share * other
        if channel[1] == "rotation_quaternion":
            mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
        found[channel] = mixed
    return found


def within(limits: np.ndarray, seed: int) -> np.ndarray:
    """Euler angles (k, 3) at random between limits (3, 2), radians."""
    low, high = limits.T
    return low + (high - low) * np.random.default_rng(seed).random((SAMPLES, 3))
