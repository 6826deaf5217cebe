"""Bones counted by the constraint; all others follow the nearest counted ancestor."""

from enum import Enum

import numpy as np


class Counting(Enum):
    """Choice of the counted bones."""

    AUTOMATIC = "AUTOMATIC"
    ALL = "ALL"
    PICKED = "PICKED"


def merged_into_picked(parents: np.ndarray, picked: np.ndarray) -> np.ndarray:
    """Nearest picked ancestor (b,) i64 of each bone, or the bone itself if picked.

    parents: (b,) parent bones, -1 for none. picked: (b,) bool. Without a picked ancestor the topmost bone
    counts.
    """
    into = np.arange(len(parents))
    for bone in range(len(parents)):
        end = bone
        while not picked[end] and parents[end] >= 0:
            end = parents[end]
        into[bone] = end
    return into
