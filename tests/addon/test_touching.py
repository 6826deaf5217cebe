"""Touching loose bodies: a frame in which their common step has not converged is marked."""

from functools import partial

import jounce
import numpy as np
import pytest
from jounce_core.body.loose import LooseBody
from jounce_core.flesh.settings import LooseMotion
from jounce_core.passes.loose_pass import LoosePass, Throw
from jounce_core.passes.touching_pass import Together, TouchingPass
from jounce_core.stepping.motion import FrameInput
from jounce_core.storage.cache import MotionCache

FRAMES = 8
SIDE = 0.1


def body() -> LooseBody:
    points, triangles = jounce.shapes.box((SIDE, SIDE, SIDE))
    mesh = jounce.TetMesh.lattice(points, triangles, resolution=4)
    model = jounce.Model.projective(mesh, jounce.Material(2e4, 0.0, 1000.0, "arap"), handles=6, clusters=12)
    rig = jounce.Rig(mesh, np.ones((len(mesh.vertices), 1)))
    return LooseBody(mesh, jounce.Embedding(mesh, points), rig, model)


def start(of: LooseBody, most: int, **_: object) -> "jounce.Simulation":
    points = of.mesh.vertices
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    shape = jounce.Collider.box(tuple(middle), (SIDE, SIDE, SIDE), friction=0.5)
    return jounce.Simulation(of.model, dt=1 / 24, substeps=1, max_iterations=most, shape=shape)


def played(speed: float, most: int) -> TouchingPass:
    """The first of two bodies, thrown at the other. most: iterations of a step."""
    made = body()
    seconds = 1 / 24

    def member(velocity: float) -> tuple[object, ...]:
        settings = LooseMotion(5.0, 0.1, 0.0, 1, 0.0, "backward_euler", velocity=(velocity, 0.0, 0.0))
        return partial(start, made, most), Throw(settings, seconds, "Jelly"), made, None

    other = LoosePass(MotionCache({}, 1), *member(0.0))
    first = TouchingPass(MotionCache({}, 1), *member(speed), [other], 0, Together())
    there = np.eye(3, 4)[None].copy()
    there[0, 0, 3] = 1.5 * SIDE
    for _ in range(FRAMES):
        own = FrameInput(there, 1.0)
        first.feed(FrameInput(np.eye(3, 4)[None].copy(), 1.0, touching=(own,)))
    return first


@pytest.mark.parametrize(("speed", "most", "rough"), [(0.0, 30, False), (2.0, 1, True)])
def test_a_frame_that_has_not_converged_is_told(speed, most, rough):
    assert bool(played(speed, most).rough()) == rough
