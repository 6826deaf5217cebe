"""Which bones the constraint counts: the others move as the nearest counted bone above them."""

from enum import Enum

import numpy as np


class Counting(Enum):
    """How the bones that count are chosen."""

    AUTOMATIC = "AUTOMATIC"
    ALL = "ALL"
    PICKED = "PICKED"


def merged_into_picked(parents: np.ndarray, picked: np.ndarray) -> np.ndarray:
    """For each bone (b,) i64 the nearest picked one above it, itself if it is picked.

    parents: (b,) the bone above, -1 for none. picked: (b,) bool. Where no bone above is picked, the
    topmost one counts.
    """
    into = np.arange(len(parents))
    for bone in range(len(parents)):
        end = bone
        while not picked[end] and parents[end] >= 0:
            end = parents[end]
        into[bone] = end
    return into
