"""Common behaviour of jobs: progress, cancelling, and results."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import jounce
import numpy as np
import pytest
from signals import Interrupted, signal_soon

RANDOM = np.random.default_rng(0)


def bones():
    """A motion for helper bones."""
    points = RANDOM.uniform(-1.0, 1.0, (60, 3))
    frames = np.repeat(points[None], 5, axis=0)
    frames[:, points[:, 2] > 0.0, 0] += np.linspace(0.0, 0.4, 5)[:, None]
    return points, frames.astype(np.float32), np.tile(np.eye(3, 4), (5, 1, 1, 1)), np.ones((60, 1))


def shapes(frames, points):
    """Displacements with all shapes different."""
    return RANDOM.standard_normal((frames, points, 3)).astype(np.float32)


@functools.cache
def fine_body():
    """A body with a slow full space."""
    points = np.array([(x, y, z) for x in (0.0, 4.0) for y in (0.0, 4.0) for z in (0.0, 4.0)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = np.array([corners for a, b, c, d in quads for corners in ((a, b, c), (a, c, d))])
    return jounce.Body(points, triangles, np.ones((8, 1)), resolution=24, modes=1, clusters=10)


def lesson(body, frames):
    """A body, the motion in some frames, and the poses."""
    shot = shapes(frames, len(body.mesh.vertices)).astype(np.float64)
    return body, shot, np.tile(np.eye(3, 4), (frames, body.rig.bone_count, 1, 1))


@dataclass(frozen=True)
class Kind:
    """A kind of job, the call to wait for the result, and the last stage."""

    job: type
    call: Callable
    stage: str
    quick: Callable
    slow: Callable


def jelly():
    """Material of loose bodies."""
    return jounce.Material(young=1e4, poisson=0.0, density=1000.0, law="arap")


def arguments(*positional, **named):
    """Arguments of a call."""
    return positional, named


KINDS = (
    Kind(
        jounce.BodyJob,
        jounce.Body,
        "model",
        quick=lambda box: arguments(*box, resolution=8, modes=4),
        slow=lambda box: arguments(*box, resolution=100, modes=60),
    ),
    Kind(
        jounce.FullSpaceJob,
        jounce.Body.full_space,
        "full space",
        quick=lambda box: arguments(jounce.Body(*box, resolution=8, modes=4)),
        slow=lambda _: arguments(fine_body()),
    ),
    Kind(
        jounce.ProjectiveJob,
        jounce.Model.projective,
        "handles",
        quick=lambda box: arguments(jounce.TetMesh.lattice(*box[:2], 8), jelly(), 8, 12),
        slow=lambda _: arguments(fine_body().mesh, jelly(), 400, 400),
    ),
    Kind(
        jounce.LinearModesJob,
        jounce.linear_modes,
        "modes",
        quick=lambda box: arguments(jounce.TetMesh.lattice(*box[:2], 8), jelly(), 4),
        slow=lambda _: arguments(fine_body().mesh, jelly(), 200),
    ),
    Kind(
        jounce.LearnJob,
        jounce.Body.learn,
        "forces",
        quick=lambda box: arguments(*lesson(jounce.Body(*box, resolution=8, modes=4), 5), 3),
        slow=lambda _: arguments(*lesson(fine_body(), 60), 60),
    ),
    Kind(
        jounce.HelperBonesJob,
        jounce.helper_bones,
        "helper bones",
        quick=lambda _: arguments(*bones(), count=2),
        slow=lambda _: arguments(*bones(), count=2, passes=1_000_000),
    ),
    Kind(
        jounce.ModalKeysJob,
        jounce.modal_keys,
        "trying shapes",
        quick=lambda _: arguments(shapes(6, 50), tolerance=0.1),
        slow=lambda _: arguments(shapes(300, 20_000), tolerance=0.0, max_keys=300),
    ),
)


@pytest.fixture(params=KINDS, ids=lambda kind: kind.job.__name__)
def kind(request):
    """A kind of job."""
    return request.param


def test_all_kinds_are_here():
    things = [thing for thing in vars(jounce).values() if isinstance(thing, type)]
    kinds = {thing.__name__ for thing in things if issubclass(thing, jounce.Job)}
    assert kinds == {"Job", "MotionJob", *(kind.job.__name__ for kind in KINDS)}
    with pytest.raises(TypeError):
        jounce.Job()


def test_a_job_tells_how_far_it_is(kind, box):
    positional, named = kind.quick(box)
    job = kind.job(*positional, **named)
    job.result()
    assert (job.done, job.stage) == (True, kind.stage)
    assert 0.5 < job.progress <= 1.0
    assert repr(job) == f'{kind.job.__name__}({100 * job.progress:.0f} %, "{kind.stage}")'


def test_a_job_stops_when_it_is_cancelled(kind, box):
    positional, named = kind.slow(box)
    job = kind.job(*positional, **named)
    while job.progress == 0.0:
        assert not job.done
    job.cancel()
    with pytest.raises(ValueError, match="^cancelled$"):
        job.result()
    assert job.done
    assert job.progress < 0.9


@pytest.mark.posix
def test_ctrl_c_ends_the_waiting_and_the_work(kind, box):
    positional, named = kind.slow(box)
    with signal_soon(), pytest.raises(Interrupted):
        kind.call(*positional, **named)
    job = kind.job(*positional, **named)
    with signal_soon(), pytest.raises(Interrupted):
        job.result()


LONG = {
    "lattice": lambda box: jounce.TetMesh.lattice(*box[:2], tet_count=20_000_000),
    "skinning_modes": lambda box: jounce.skinning_modes(fine(box), jounce.Material(), 300),
    "localised_modes": lambda box: jounce.localised_modes(fine(box), jounce.Material(), 100),
}


def fine(box):
    """A mesh of 80,000 tets."""
    return jounce.TetMesh.lattice(*box[:2], resolution=64)


@pytest.mark.posix
@pytest.mark.parametrize("name", LONG)
def test_ctrl_c_ends_other_calls_that_take_long(name, box):
    with signal_soon(), pytest.raises(Interrupted):
        LONG[name](box)


def test_modal_keys_of_a_job_are_those_of_the_function():
    frames = shapes(12, 40)
    made = jounce.ModalKeysJob(frames, 0.5, max_keys=5).result()
    expected = jounce.modal_keys(frames, 0.5, max_keys=5)
    assert made[0].shape == (5, 40, 3) and made[1].shape == (12, 5)
    assert all(np.array_equal(one, other) for one, other in zip(made, expected, strict=True))


def test_modal_keys_of_a_job_refuse_what_the_function_refuses():
    frames = shapes(3, 4)
    with pytest.raises(ValueError, match="frames: expected shape"):
        jounce.ModalKeysJob(frames[0], 0.1)
    frames[1, 2, 0] = np.inf
    job = jounce.ModalKeysJob(frames, 0.1)
    with pytest.raises(ValueError, match="frames: element 18 is inf; every number must be finite"):
        job.result()
    with pytest.raises(ValueError, match="tolerance: expected a distance >= 0"):
        jounce.modal_keys(shapes(3, 4), tolerance=-1.0)


def test_linear_modes_of_a_job_are_those_of_the_function(box):
    mesh = jounce.TetMesh.lattice(*box[:2], 8)
    held = mesh.vertices[:, 0] < mesh.vertices[:, 0].min() + 0.1
    job = jounce.LinearModesJob(mesh, jelly(), 4, pinned=held, derivatives=True)
    made, expected = job.result(), jounce.linear_modes(mesh, jelly(), 4, pinned=held)
    assert job.stage == "derivatives"
    assert np.array_equal(made.shapes, expected.shapes)
    assert np.array_equal(made.derivatives(), expected.derivatives())


def test_linear_modes_of_a_surface_have_no_derivatives(box):
    surface = jounce.SurfaceMesh(*box[:2])
    job = jounce.LinearModesJob(surface, jelly(), 4, thickness=0.01, derivatives=True)
    with pytest.raises(ValueError, match="a surface without volume has none"):
        job.result()


@pytest.mark.posix
def test_ctrl_c_ends_the_waiting_for_a_motion(model, bar):
    slow = jounce.Simulation(model, substeps=100_000, max_iterations=100_000, tolerance=0.0)
    job = jounce.MotionJob(slow)
    job.step(bar.poses[1])
    with signal_soon(), pytest.raises(Interrupted):
        job.wait()
    assert not job.done


def test_a_motion_that_is_cancelled_stops_within_a_step(model, bar):
    slow = jounce.Simulation(model, substeps=100_000, max_iterations=100_000, tolerance=0.0)
    job = jounce.MotionJob(slow)
    job.step(bar.poses[1])
    job.step(bar.poses[2])
    job.keep()
    assert not job.done
    job.cancel()
    job.wait()
    assert job.done
    assert job.kept == 0
