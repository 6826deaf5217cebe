"""A first look at the current frame after a change, until the cache has reached this frame."""

import time
from collections.abc import Callable
from dataclasses import replace
from math import ceil

import bpy
import jounce
import numpy as np

from ...core.body.full_space import Coordinates
from ...core.common.user_error import UserError
from ...core.flesh.settings import RestartMode
from ...core.passes.simulation_pass import SimulationPass
from ...core.stepping.motion import FrameInput, settling_seconds
from ..common import units
from ..common.words import worded
from .display import Display
from .motions import Motions

# Fewest and most frames before the current one.
SHORTEST, LONGEST = 12, 24
# Share of the fill's frames up to the current one; with more, the fill is as quick.
WORTHWHILE = 2 / 3


class FirstLook:
    """A provisional motion of a few frames, which starts in motion; never cached, kept or baked.

    frame: number of the shown frame, the last one.
    """

    def __init__(self, passing: SimulationPass, frame: int) -> None:
        """passing: without frames, from the first one of the look on."""
        self.frame = frame
        self._passing = passing

    def work(
        self,
        scene: bpy.types.Scene,
        filling: SimulationPass,
        ahead: Callable[[int], FrameInput] | None,
        deadline: float,
    ) -> bool:
        """Continues until this time; False once the fill is there, or the frame is left or unreadable.

        ahead: the drive of a frame, None if no frame can be read ahead.
        """
        is_filled = filling.checked > self.frame - filling.cache.first
        if is_filled or scene.frame_current != self.frame or ahead is None:
            self.close()
            return False
        first, drives = self._passing.cache.first, self._passing.drives
        try:
            while first + len(drives) <= self.frame and time.perf_counter() < deadline:
                self._passing.feed(ahead(first + len(drives)))
            self._passing.collect()
        except UserError:
            # The fill meets the same frame, and says so.
            self.close()
            return False
        return True

    @property
    def coefficients(self) -> np.ndarray | None:
        """The coefficients of the frame, None until simulated."""
        index = self.frame - self._passing.cache.first
        return self._passing.cache.coefficients[index] if self._passing.checked > index else None

    @property
    def owner(self) -> Coordinates:
        """Owner of the coefficients of a draft."""
        return self._passing.owner

    @property
    def drive(self) -> FrameInput:
        """The last known drive, of the frame once simulated."""
        return self._passing.drives[-1]

    def status(self, display: Display) -> str:
        """A sentence for the end of the panel's line while the look is displayed, otherwise empty."""
        is_shown = self.coefficients is not None and display.shows(self.coefficients)
        return sentence(self.frame) if is_shown else ""

    def close(self) -> None:
        """Stops the simulation."""
        self._passing.close()


def sentence(frame: int) -> str:
    """The end of the panel's line for a frame that is a look ahead."""
    return worded(". Frame {frame} is a first look", frame=frame)


def restarted(
    before: FirstLook | None,
    made: Motions,
    scene: bpy.types.Scene,
    filling: SimulationPass,
    model: "jounce.Model | None" = None,
) -> FirstLook | None:
    """A look ahead of a fill; None where the frame is cached or soon filled, or needs all frames before.

    model: of the final motion, None for the draft.
    """
    if before is not None:
        before.close()
    frame, state = scene.frame_current, made.scene.host.jounce
    ahead, known = frame - filling.cache.first, len(filling.cache)
    if state.loops or filling.given or not made.is_flesh or ahead < max(SHORTEST, known):
        return None
    settings = replace(state.motion_settings(), start=RestartMode.MOVING)
    needed = settling_seconds(made.body, settings) / units.frame_seconds(scene)
    count = max(SHORTEST, ceil(min(needed, LONGEST)))
    # A draft reads even known frames.
    left = ahead if model is None else ahead - known
    if count > WORTHWHILE * left:
        return None
    first = frame - count
    if model is None:
        return FirstLook(made.draft_from(scene, settings, first), frame)
    return FirstLook(made.rehearsal(scene, settings, first, model), frame)
