"""Starts of a new motion: keyed cuts, and detected teleports."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

# Number of previous steps for the prediction of a step. Two, since the step after a teleport predicts
# nothing.
STEPS_BEFORE = 2
# Share of a teleport's distance sufficient for a teleport when modifiers of the rig are switched, for
# instance to another armature.
SWITCHED = 0.1


@dataclass(frozen=True)
class Teleport:
    """Definition of a teleport.

    places: maps a pose (b, 3, 4) to points all over the body (k, 3), metres. least: metres.
    """

    places: Callable[[np.ndarray], np.ndarray]
    least: float

    def happens(self, places: Sequence[np.ndarray], share: float = 1.0) -> bool:
        """True if the body leaps to the last of its consecutive places (k, 3).

        The last step then differs from standing still, and from each step before, by a share of `least`, root
        mean square over the places. Motion at constant speed is no teleport.
        """
        steps = np.diff(places, axis=0)[-1 - STEPS_BEFORE :]
        if len(steps) == 0:
            return False
        expected = [np.zeros_like(steps[-1]), *steps[:-1]]
        gaps = (np.sqrt(((steps[-1] - step) ** 2).sum(axis=1).mean()) for step in expected)
        return bool(min(gaps) >= share * self.least)


class Teleports:
    """Finds the teleports in a sequence of poses."""

    def __init__(self, teleport: Teleport | None) -> None:
        """teleport: None to find none."""
        self.frames: list[int] = []
        self._teleport = teleport
        self._count = 0
        self._places: deque[np.ndarray] = deque(maxlen=STEPS_BEFORE + 2)
        self._switches: tuple[bool, ...] = ()

    def follow(
        self, pose: np.ndarray | None, spots: np.ndarray | None = None, switches: tuple[bool, ...] = ()
    ) -> bool:
        """Takes the next pose (b, 3, 4) or None; True for a teleport to the pose.

        spots: (k, 3), places of the body if the pose does not determine them. switches: active modifiers of
        the rig.
        """
        index, self._count = self._count, self._count + 1
        if pose is None:
            self._places.clear()
        if self._teleport is None or pose is None:
            return False
        self._places.append(self._teleport.places(pose) if spots is None else spots)
        share, self._switches = 1.0 if switches == self._switches else SWITCHED, switches
        happened = self._teleport.happens(self._places, share)
        if happened:
            self.frames.append(index)
        return happened
