"""Progress of a pass over a loop."""

from types import SimpleNamespace

import jounce
import numpy as np
import pytest
from jounce_core.mesh.surface import Part, Surface
from jounce_core.passes.loop_pass import LoopPass
from jounce_core.stepping.motion import FrameInput, Schedule
from jounce_core.storage.cache import MotionCache

CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


def test_closing_counts_as_most_of_the_second_half(body):
    surface = Surface(CORNERS, FACES, np.ones((4, 1)), (Part("A", slice(0, 4), np.eye(3)),))
    cache = MotionCache({}, 1)
    filling = LoopPass(cache, lambda: jounce.Simulation(body.model), Schedule(), 3, surface)
    for _ in range(2):
        filling.feed(FrameInput(np.eye(3, 4)[None], 1.0))
    assert filling.progress == 1.0 and filling.closing
    filling.feed(FrameInput(np.eye(3, 4)[None], 1.0))
    recorder, filling._recorder = filling._recorder, SimpleNamespace(job=SimpleNamespace(progress=0.5))
    assert filling.progress == pytest.approx(1.5 + 0.9 * 0.75) and filling.closing
    filling._recorder = recorder
    fractions = [step.fraction for step in filling.caught_up()]
    assert fractions == sorted(fractions) and fractions[-1] == 1.0
    assert filling.progress == 3.0 and not filling.closing
